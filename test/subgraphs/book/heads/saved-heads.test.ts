import { appendFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { agentId } from '../../../../schema/ids.ts';
import { compareEventHeads, isEventHead } from '../../../../subgraphs/book/heads/compare.ts';
import { SavedHeads, type SavedHeadsOptions } from '../../../../subgraphs/book/heads/saved-heads.ts';
import { atEnd } from '../../../harness/release.ts';
import { clearScratch, makeScratch } from '../../../harness/scratch.ts';

const head = (agent_id: number, position: number, digit = 'a') => ({
  agent_id: agentId(agent_id),
  position,
  hash: digit.repeat(64),
  at: '2026-01-02T03:04:05.678Z',
});

let path: string;
beforeEach(async () => {
  const folder = await makeScratch();
  atEnd(() => clearScratch(folder));
  path = join(folder, 'book-heads.jsonl');
});

const read = () => new SavedHeads(path).read();

async function* pages(...heads: ReturnType<typeof head>[]) {
  yield heads;
}

/** Opens saved heads on a file that does not exist. */
async function begun(options?: SavedHeadsOptions): Promise<SavedHeads> {
  const saved = new SavedHeads(path, options);
  expect(await saved.begin(pages())).toBe(true);
  return saved;
}

describe('saved heads of books', () => {
  it('are null where there is no file, and then the largest of each book, whoever wrote last', async () => {
    expect(await read()).toBeNull();
    const [one, other] = [await begun(), new SavedHeads(path)];
    one.add([head(1, 3), head(2, 1)]);
    await one.whenSaved();
    other.add([head(1, 2), head(2, 2, 'b')]);
    await other.whenSaved();
    expect(await read()).toEqual([head(1, 3), head(2, 2, 'b')]);
    await Promise.all([one.close(), other.close()]);
  });

  it('keep both of two at one position, of which but one can stand', async () => {
    const saved = await begun();
    saved.add([head(1, 3)]);
    await saved.close();
    const other = new SavedHeads(path);
    other.add([head(1, 3, 'b')]);
    await other.close();
    expect(await read()).toEqual([head(1, 3), head(1, 3, 'b')]);
  });

  it('are read without a torn last line, and written on behind the last whole one', async () => {
    const saved = await begun();
    saved.add([head(1, 1)]);
    await saved.whenSaved();
    await appendFile(path, '{"agent_id":1,"posi');
    saved.add([head(1, 2)]);
    await saved.whenSaved();
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
    const savers = [await begun(), new SavedHeads(path), new SavedHeads(path)];
    const rounds = 60;
    let largest = 0;
    for (let position = 1; position <= rounds; position++) {
      for (const [at, saved] of savers.entries())
        saved.add(Array.from({ length: 100 }, (_, book) => head(1 + at * 100 + book, position)));
      await Promise.all(savers.map(saved => saved.whenSaved()));
      largest = Math.max(largest, (await stat(path)).size);
    }
    await Promise.all(savers.map(saved => saved.close()));
    const heads = await read();
    expect(heads).toHaveLength(300);
    expect(heads?.every(known => isEventHead(known) && known.position === rounds)).toBe(true);
    // Each line has about 140 bytes, so all 18,000 lines would have 2.5 MB. How many were added since the last rewrite depends on the order
    // of writes.
    expect((await readFile(path)).length).toBeLessThan(2_000_000);
    expect(await readdir(join(path, '..'))).toEqual(['book-heads.jsonl']);
  });

  it('that could not be written are said to fail, once, and are written by a timer as soon as they can be', async () => {
    const heard: unknown[] = [];
    const saved = await begun({
      onFailure: fault => void heard.push(fault),
      onRecovery: () => void heard.push('recovered'),
    });
    await rm(path);
    await mkdir(path);
    saved.add([head(1, 1)]);
    await expect(saved.whenSaved()).rejects.toThrow('EISDIR');
    // Nothing that was added before is on disk, so every caller gets the error.
    await expect(saved.whenSaved()).rejects.toThrow('EISDIR');
    expect(saved.fails).toBe(true);
    expect(heard).toHaveLength(1);
    await rm(path, { recursive: true });
    await expect.poll(() => saved.fails).toBe(false);
    expect(heard.slice(1)).toEqual(['recovered']);
    expect(await read()).toEqual([head(1, 1)]);
    await saved.close();
  });

  it('of a file that is lost while it is written on are all written again, and its loss is told', async () => {
    let lost = 0;
    const saved = await begun({ all: () => pages(head(1, 7), head(2, 9)), onMissing: () => void lost++ });
    await rm(path);
    saved.add([head(1, 8)]);
    await saved.whenSaved();
    expect(await read()).toEqual([head(1, 8), head(2, 9)]);
    expect(lost).toBe(1);
    await saved.close();
  });

  it('are not written again, nor tried again, once the log is halted', async () => {
    let halted = false;
    const saved = await begun({ all: () => pages(head(1, 7)), isHalted: () => halted });
    await rm(path);
    halted = true;
    saved.add([head(1, 8)]);
    await expect(saved.whenSaved()).rejects.toThrow('is not there any more');
    await saved.close();
    expect(await read()).toBeNull();
  });

  it('are begun by one of two processes, and what it has written since is not overwritten by the other', async () => {
    const [one, other] = [new SavedHeads(path), new SavedHeads(path)];
    expect(await one.begin(pages(head(1, 1), head(2, 1)))).toBe(true);
    one.add([head(1, 2)]);
    await one.whenSaved();
    expect(await other.begin(pages(head(1, 1), head(2, 1)))).toBe(false);
    expect(await other.open()).toEqual([head(1, 2), head(2, 1)]);
    expect(await readdir(join(path, '..'))).toEqual(['book-heads.jsonl']);
    await Promise.all([one.close(), other.close()]);
  });

  it('are compacted at each start, so that the bound of the file does not begin anew with it', async () => {
    const lines = Array.from({ length: 4_000 }, (_, at) => `${JSON.stringify(head(1 + (at % 2), 1 + at))}\n`);
    await writeFile(path, lines.join(''));
    const saved = new SavedHeads(path);
    const opened = await saved.open();
    expect(opened).toEqual([head(2, 4_000), head(1, 3_999)].toReversed());
    await saved.close();
    expect((await readFile(path, 'utf8')).trim().split('\n')).toHaveLength(2);
    expect(await read()).toEqual(opened);
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
