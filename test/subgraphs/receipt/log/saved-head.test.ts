import { appendFile, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LogHalted } from '../../../../subgraphs/receipt/log/halt.ts';
import { savedHead as openSavedHead, type SavedHead } from '../../../../subgraphs/receipt/log/saved-head.ts';
import { type HeadName, type SignedTreeHead, treeHeadHash } from '../../../../subgraphs/receipt/log/tree-head.ts';

const facts = (tree_size: number) => ({ log_id: 1, tree_size, root_hash: 'a'.repeat(64) });
const head = (tree_size: number): SignedTreeHead => ({
  ...facts(tree_size),
  tree_head_hash: treeHeadHash(facts(tree_size)),
  kid: 'kid',
  jws: 'a.b.c',
  at: '2026-01-02T03:04:05.678Z',
});

/** Options of processes that append to the same log. */
const oneLog = { isExtended: async () => true, stop: (mismatch: LogHalted['mismatch']) => new LogHalted(mismatch) };
const savedHead = (at: string) => openSavedHead(at, oneLog);
const LITTER = ['log-head.json', 'log-heads.jsonl'];

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
    expect(await readdir(join(folder, 'deep'))).toEqual(LITTER);
  });

  it('ends at the largest also between processes of one number, as each in a container of its own has', async () => {
    const processes: SavedHead[] = [];
    while (processes.length < 3) {
      vi.resetModules();
      processes.push((await import('../../../../subgraphs/receipt/log/saved-head.ts')).savedHead(path, oneLog));
    }
    for (let size = 1; size <= 120; size += 3)
      await Promise.all(processes.map((saved, index) => saved.save(head(size + index))));
    expect(await savedHead(path).read()).toEqual(head(120));
    expect(await readdir(join(folder, 'deep'))).toEqual(LITTER);
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

  it('never becomes one that is not what its hash names, whoever brings it: that is said to fail', async () => {
    const saved = savedHead(path);
    await saved.save(head(1));
    await expect(saved.save({ ...head(2), tree_head_hash: '0'.repeat(64) })).rejects.toThrow('tree_head_hash');
    expect(saved.fails).toBe(true);
    expect(await saved.read()).toEqual(head(1));
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

describe('a saved head that is not of the same log', () => {
  const forked = (tree_size: number): SignedTreeHead => {
    const other = { log_id: 1, tree_size, root_hash: 'b'.repeat(64) };
    return { ...head(tree_size), ...other, tree_head_hash: treeHeadHash(other) };
  };

  it.each<[what: string, next: SignedTreeHead]>([
    ['as large with another root', forked(9)],
    ['smaller', head(4)],
    ['larger', head(12)],
  ])('%s: is neither saved nor dropped, but is fatal, naming both', async (_what, next) => {
    await savedHead(path).save(head(9));
    const fault = await openSavedHead(path)
      .save(next)
      .catch((thrown: unknown) => thrown);
    const named = ({ tree_size, root_hash }: SignedTreeHead) => ({ tree_size, root_hash });
    expect(fault).toMatchObject({ code: 'unavailable', mismatch: { known: named(head(9)), found: named(next) } });
    expect(await savedHead(path).read()).toEqual(head(9));
    expect(await readdir(join(folder, 'deep'))).toEqual(LITTER);
  });

  it('is fatal also among heads that wait to be written together', async () => {
    const saved = savedHead(path);
    const writing = saved.save(head(1));
    const waiting = saved.save(head(2));
    await expect(saved.save(forked(2))).rejects.toMatchObject({ code: 'unavailable' });
    await Promise.all([writing, waiting]);
    expect(await saved.read()).toEqual(head(2));
  });

  it('asks for the proof of the smaller within the larger, whichever of them stands there', async () => {
    const asked: (readonly [number, number])[] = [];
    const isExtended = async (older: HeadName, newer: HeadName) => {
      asked.push([older.tree_size, newer.tree_size]);
      return true;
    };
    const saved = openSavedHead(path, { ...oneLog, isExtended });
    for (const size of [3, 5, 5, 2]) await saved.save(head(size));
    expect(asked).toEqual([
      [3, 5],
      [2, 5],
    ]);
  });
});

describe('what others have saved', () => {
  it('is told once, and what was saved here is not', async () => {
    const [ours, theirs] = [savedHead(path), savedHead(path)];
    await ours.save(head(1));
    expect(ours.readChange()).toBeNull();
    await theirs.save(head(2));
    expect(ours.readChange()).toEqual(head(2));
    expect(ours.readChange()).toBeNull();
  });
});

describe('the heads that are kept for good', () => {
  const at = (minute: string, tree_size: number) => ({ ...head(tree_size), at: `2026-01-02T03:${minute}:05.678Z` });
  const kept = async () =>
    (await readFile(join(folder, 'deep', 'log-heads.jsonl'), 'utf8'))
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line) as SignedTreeHead);

  it('are one of each minute, signed, and go on after a break', async () => {
    const saved = savedHead(path);
    for (const each of [at('04', 1), at('04', 2), at('05', 3), at('05', 4), at('07', 5)]) await saved.save(each);
    expect(await kept()).toEqual([at('04', 1), at('05', 3), at('07', 5)]);
    await saved.restart(at('08', 2));
    expect((await kept()).at(-1)).toEqual(at('08', 2));
  });

  it('are whole lines again after one that a power cut tore', async () => {
    await savedHead(path).save(at('04', 1));
    await appendFile(join(folder, 'deep', 'log-heads.jsonl'), '{"log_id":1,"tree_s');
    await savedHead(path).save(at('05', 2));
    const lines = (await readFile(join(folder, 'deep', 'log-heads.jsonl'), 'utf8')).split('\n');
    expect([lines.length, JSON.parse(lines[2] ?? '')]).toEqual([4, at('05', 2)]);
  });
});
