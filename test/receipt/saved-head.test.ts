import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type SavedHead, type SignedTreeHead, savedHead } from '../../subgraphs/receipt/index.ts';
import { treeHeadHash } from '../../subgraphs/receipt/log/head.ts';

const facts = (tree_size: number) => ({ log_id: 1, tree_size, root_hash: 'a'.repeat(64) });
const head = (tree_size: number): SignedTreeHead => ({
  ...facts(tree_size),
  tree_head_hash: treeHeadHash(facts(tree_size)),
  kid: 'kid',
  jws: 'a.b.c',
  at: '2026-01-02T03:04:05.678Z',
});

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-head-'));
  path = join(folder, 'deep', 'log-head.json');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the saved head', () => {
  it('is null before the first, then the last one saved, whole', async () => {
    const saved = savedHead(path);
    expect(await saved.read()).toBeNull();
    await saved.save(head(1));
    await saved.save(head(2));
    expect(await saved.read()).toEqual(head(2));
  });

  it('is never replaced by a smaller one, whoever saves it', async () => {
    await savedHead(path).save(head(9));
    await savedHead(path).save(head(4));
    expect(await savedHead(path).read()).toEqual(head(9));
  });

  it('ends at the largest when many savers race, and leaves no litter', async () => {
    const savers = [savedHead(path), savedHead(path), savedHead(path)];
    const sizes = Array.from({ length: 60 }, (_, index) => ((index * 37) % 60) + 1);
    await Promise.all(sizes.map((size, index) => savers[index % 3]?.save(head(size))));
    expect(await savedHead(path).read()).toEqual(head(60));
    expect(await readdir(join(folder, 'deep'))).toEqual(['log-head.json']);
  });

  it('ends at the largest also between processes of one number, as each in a container of its own has', async () => {
    const processes: SavedHead[] = [];
    while (processes.length < 3) {
      vi.resetModules();
      processes.push((await import('../../subgraphs/receipt/log/saved-head.ts')).savedHead(path));
    }
    for (let size = 1; size <= 120; size += 3)
      await Promise.all(processes.map((saved, index) => saved.save(head(size + index))));
    expect(await savedHead(path).read()).toEqual(head(120));
    expect(await readdir(join(folder, 'deep'))).toEqual(['log-head.json']);
  });

  it('lets nobody wait for heads that came later', async () => {
    const saved = savedHead(path);
    let size = 1;
    let flowing = true;
    const stream = (async () => {
      while (flowing) await Promise.race([saved.save(head(++size)), new Promise(setImmediate)]);
    })();
    await saved.save(head(1));
    flowing = false;
    await stream;
    await saved.save(head(size));
    expect(await saved.read()).toEqual(head(size));
  });

  it('is saved although a process died while it held the lock', async () => {
    await savedHead(path).save(head(1));
    await writeFile(`${path}.lock`, '');
    await utimes(`${path}.lock`, 0, 0);
    await savedHead(path).save(head(2));
    expect(await savedHead(path).read()).toEqual(head(2));
  });

  it('refuses a file that it cannot read, rather than start afresh', async () => {
    await savedHead(path).save(head(1));
    const grown = { ...head(1), tree_size: 2 };
    for (const text of ['{"tree_size":', '', 'null', '{}', '[]', JSON.stringify(grown)]) {
      await writeFile(path, text);
      await expect(savedHead(path).read()).rejects.toThrow('cannot be read');
      await expect(savedHead(path).save(head(2))).rejects.toThrow('cannot be read');
    }
  });
});
