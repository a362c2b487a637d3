import { appendFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { agentId } from '../../../../schema/ids.ts';
import { compareEventHeads } from '../../../../subgraphs/book/heads/compare.ts';
import { SavedHeads } from '../../../../subgraphs/book/heads/saved-heads.ts';
import { atEnd } from '../../../harness/release.ts';
import { clearScratch, makeScratch } from '../../../harness/scratch.ts';

const head = (agent_id: number, position: number, digit = 'a') => ({
  agent_id: agentId(agent_id),
  position,
  hash: digit.repeat(64),
});

let path: string;
beforeEach(async () => {
  const folder = await makeScratch();
  atEnd(() => clearScratch(folder));
  path = join(folder, 'book-heads.jsonl');
});

const read = () => new SavedHeads(path).read();

describe('saved heads of books', () => {
  it('are null where there is no file, and then the largest of each book, whoever wrote last', async () => {
    expect(await read()).toBeNull();
    const [one, other] = [new SavedHeads(path), new SavedHeads(path)];
    one.add([head(1, 3), head(2, 1)]);
    await one.saving;
    other.add([head(1, 2), head(2, 2, 'b')]);
    await other.saving;
    expect(await read()).toEqual([head(1, 3), head(2, 2, 'b')]);
    await Promise.all([one.close(), other.close()]);
  });

  it('keep both of two at one position, of which but one can stand', async () => {
    const saved = new SavedHeads(path);
    saved.add([head(1, 3)]);
    await saved.close();
    const other = new SavedHeads(path);
    other.add([head(1, 3, 'b')]);
    await other.close();
    expect(await read()).toEqual([head(1, 3), head(1, 3, 'b')]);
  });

  it('are read without a torn last line, and written on behind the last whole one', async () => {
    const saved = new SavedHeads(path);
    saved.add([head(1, 1)]);
    await saved.saving;
    await appendFile(path, '{"agent_id":1,"posi');
    saved.add([head(1, 2)]);
    await saved.saving;
    expect(await read()).toEqual([head(1, 2)]);
    await appendFile(path, Buffer.alloc(5_000));
    expect(await read()).toEqual([head(1, 2)]);
    await saved.close();
  });

  it('cannot be read with a damaged line among them', async () => {
    await writeFile(path, `${JSON.stringify(head(1, 1))}\n{}\n${JSON.stringify(head(1, 2))}\n`);
    await expect(read()).rejects.toThrow(`the saved book heads ${path} cannot be read`);
  });

  it('are compacted once the file has grown, and lose nothing that others write meanwhile', async () => {
    const savers = [new SavedHeads(path), new SavedHeads(path), new SavedHeads(path)];
    const rounds = 60;
    let largest = 0;
    for (let position = 1; position <= rounds; position++) {
      for (const [at, saved] of savers.entries())
        saved.add(Array.from({ length: 100 }, (_, book) => head(1 + at * 100 + book, position)));
      await Promise.all(savers.map(saved => saved.saving));
      largest = Math.max(largest, (await stat(path)).size);
    }
    await Promise.all(savers.map(saved => saved.close()));
    const heads = await read();
    expect(heads).toHaveLength(300);
    expect(heads?.every(({ position }) => position === rounds)).toBe(true);
    // Each line has some 100 bytes: all 18,000 of them would be 1.8 MB.
    expect((await readFile(path)).length).toBeLessThan(1_400_000);
    expect(await readdir(join(path, '..'))).toEqual(['book-heads.jsonl']);
  });

  it('that could not be written are written with the next ones', async () => {
    const faults: unknown[] = [];
    const saved = new SavedHeads(path, { failed: fault => void faults.push(fault) });
    await mkdir(path);
    saved.add([head(1, 1)]);
    await expect(saved.saving).rejects.toThrow('EISDIR');
    expect(faults).toHaveLength(1);
    await rm(path, { recursive: true });
    saved.add([head(2, 1)]);
    await saved.saving;
    expect(await read()).toEqual([head(1, 1), head(2, 1)]);
    await saved.close();
  });
});

it.each([
  ['the same', head(1, 3), 'same'],
  ['a longer one', head(1, 4, 'b'), 'longer'],
  ['a shorter one', head(1, 2), 'gone_back'],
  ['one as long with another hash', head(1, 3, 'b'), 'gone_back'],
  ['none', null, 'gone_back'],
] as const)('a known head is compared with %s', (_what, found, kind) => {
  expect(compareEventHeads(head(1, 3), found)).toBe(kind);
});
