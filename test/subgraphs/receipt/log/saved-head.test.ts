import { appendFile, chmod, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LogHalted } from '../../../../subgraphs/receipt/log/halt.ts';
import { savedHead as openSavedHead, type SavedHead } from '../../../../subgraphs/receipt/log/saved-head.ts';
import {
  type HeadName,
  headName,
  type SignedTreeHead,
  treeHeadHash,
} from '../../../../subgraphs/receipt/log/tree-head.ts';
import { EMPTY_ROOT } from '../../../../subgraphs/receipt/verify/merkle-proof.ts';
import { headOf, logsOf } from '../../../harness/log/leaves.ts';

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
const LITTER = ['log-head', 'log-head.json', 'log-heads.jsonl'];

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-head-'));
  path = join(folder, 'deep', 'log-head.json');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const filesIn = async () => (await readdir(join(folder, 'deep'), { recursive: true })).toSorted();
const slotsIn = async () => {
  const slots = join(folder, 'deep', 'log-head');
  return (await readdir(slots)).map(name => join(slots, name));
};
/** Makes the files of all processes look as if nothing was written for long. */
const age = async () => {
  for (const file of await slotsIn()) await utimes(file, 0, 0);
};
const later = (tree_size: number, minute: number): SignedTreeHead => ({
  ...head(tree_size),
  at: `2026-01-02T04:${String(minute).padStart(2, '0')}:05.678Z`,
});

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
    for (const saver of savers) await saver.close();
    expect(await savedHead(path).read()).toEqual(head(60));
    expect(await filesIn()).toEqual(LITTER);
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
    for (const saved of processes) await saved.close();
    expect(await savedHead(path).read()).toEqual(head(120));
    expect(await filesIn()).toEqual(LITTER);
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

  it('is in log-head.json once a minute, and after the last save of a process that stops', async () => {
    const merged = async () => JSON.parse(await readFile(path, 'utf8')) as SignedTreeHead;
    const saved = savedHead(path);
    await saved.save(later(1, 1));
    await saved.save(later(2, 1));
    expect(await merged()).toEqual(later(1, 1));
    await saved.save(later(3, 2));
    expect(await merged()).toEqual(later(3, 2));
    await saved.save(later(4, 2));
    await saved.close();
    expect(await merged()).toEqual(later(4, 2));
  });

  it('goes on from a folder in which only log-head.json was written, in the words of before', async () => {
    await mkdir(join(folder, 'deep'));
    await writeFile(path, `${JSON.stringify(head(7), null, 2)}\n`);
    const saved = savedHead(path);
    expect(await saved.readAll()).toEqual([head(7)]);
    await saved.save(head(5));
    expect(await savedHead(path).read()).toEqual(head(7));
    await saved.save(head(8));
    await saved.close();
    expect(await readFile(path, 'utf8')).toBe(`${JSON.stringify(head(8), null, 2)}\n`);
  });

  it('is lost with log-head.json, whatever other files there are, and a process that runs writes it again', async () => {
    const [saved, other] = [savedHead(path), savedHead(path)];
    await saved.save(head(3));
    await other.save(head(2));
    await rm(path);
    expect(await savedHead(path).readAll()).toEqual([]);
    saved.readChanges();
    expect(saved.tree_size).toBe(0);
    await saved.save(head(3));
    expect([saved.tree_size, await savedHead(path).read()]).toEqual([3, head(3)]);
  });

  it('is refused if the file of any process is damaged, until a break is declared', async () => {
    const saved = savedHead(path);
    for (const size of [2, 3]) await saved.save(head(size));
    const [file = ''] = await slotsIn();
    await writeFile(file, 'damaged');
    const other = savedHead(path);
    await expect(other.read()).rejects.toThrow(`${file} cannot be read`);
    await expect(other.save(head(4))).rejects.toThrow('cannot be read');
    await other.restart(head(2));
    expect(await savedHead(path).readAll()).toEqual([head(2)]);
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
    expect(await savedHead(path).readAll()).toEqual([head(9)]);
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

describe('processes that share a folder', () => {
  it('of two that have signed different logs at the same time, at most one may answer, and both heads are read', async () => {
    let answers = 0;
    for (let round = 1; round <= 30; round++) {
      const at = join(folder, `round-${round}`, 'log-head.json');
      await savedHead(at).save(headOf('common'));
      const logs = ['common, one', 'common, an other'];
      const processes = logs.map(log => ({
        log,
        saved: openSavedHead(
          at,
          logsOf(() => [log]),
        ),
      }));
      for (const { saved } of processes) await saved.save(headOf('common'));
      const saves = await Promise.allSettled(processes.map(({ log, saved }) => saved.save(headOf(log))));
      const answered = saves.filter(({ status }) => status === 'fulfilled').length;
      for (const outcome of saves) if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(LogHalted);
      expect(answered).toBeLessThanOrEqual(1);
      answers += answered;
      const heads = await savedHead(at).readAll();
      if (answered === 0) expect(heads.slice(0, 2)).toEqual([headOf(logs[1] ?? ''), headOf(logs[0] ?? '')]);
      // Nobody answers any more: whoever has answered is refused by the head of the other.
      for (const { log, saved } of processes)
        await expect(saved.save(headOf(`${log}, more`))).rejects.toBeInstanceOf(LogHalted);
    }
    expect(answers).toBeLessThanOrEqual(30);
  });

  it('take over the heads of the dead, and remove their files only afterwards', async () => {
    const [dead, living] = [savedHead(path), savedHead(path)];
    await living.save(later(1, 1));
    await dead.save(later(5, 1));
    await living.save(later(2, 1));
    expect(await slotsIn()).toHaveLength(2);
    await age();
    await living.save(later(3, 2));
    expect(await slotsIn()).toHaveLength(1);
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(later(5, 1));
    expect(await savedHead(path).read()).toEqual(later(5, 1));
  });

  it('do not remove the file of a dead process that has signed another log', async () => {
    const dead = openSavedHead(
      path,
      logsOf(() => ['ab']),
    );
    for (const leaves of ['a', 'ab']) await dead.save(headOf(leaves));
    await rm(path);
    const living = openSavedHead(
      path,
      logsOf(() => ['abc', 'x']),
    );
    await age();
    await expect(living.save(headOf('x'))).rejects.toBeInstanceOf(LogHalted);
    expect(await slotsIn()).toHaveLength(1);
  });

  it('lose nothing of a process that was only suspended while its file was taken over', async () => {
    const [suspended, living] = [savedHead(path), savedHead(path)];
    for (const size of [0, 1]) await suspended.save(later(size, 1));
    await age();
    await living.save(later(2, 2));
    await suspended.save(later(3, 2));
    expect(await savedHead(path).read()).toEqual(later(3, 2));
    for (const file of await slotsIn()) await chmod(file, 0o400);
    await suspended.save(later(4, 2));
    expect(await savedHead(path).read()).toEqual(later(4, 2));
    await age();
    await living.save(later(4, 3));
    expect(await savedHead(path).read()).toMatchObject({ tree_size: 4 });
    await age();
    const last = savedHead(path);
    await last.save(later(4, 4));
    await last.close();
    expect(await filesIn()).toEqual(LITTER);
  });

  it('remove what a process has left that died while it created its file', async () => {
    const saved = savedHead(path);
    for (const size of [0, 1]) await saved.save(later(size, 1));
    const left = join(folder, 'deep', 'log-head', 'left.tmp');
    await writeFile(left, 'half');
    await saved.save(later(2, 2));
    expect(await slotsIn()).toContain(left);
    await utimes(left, 0, 0);
    await saved.save(later(3, 3));
    expect(await slotsIn()).toHaveLength(1);
  });
});

describe('a declared break', () => {
  it('ends all heads of before, also larger ones, and those that a process of before saves later', async () => {
    const [before, dead] = [savedHead(path), savedHead(path)];
    await dead.save(head(9));
    await before.save(head(8));
    await savedHead(path).restart(head(4));
    expect(await savedHead(path).readAll()).toEqual([head(4)]);
    await expect(before.save(head(10))).rejects.toMatchObject({
      mismatch: { known: headName(head(4)), found: headName(head(10)) },
    });
    expect(await savedHead(path).readAll()).toEqual([head(4)]);
    const after = savedHead(path);
    await after.save(head(5));
    expect(await savedHead(path).readAll()).toEqual([head(5)]);
    await age();
    await after.save(later(6, 2));
    expect([await savedHead(path).readAll(), await slotsIn()]).toMatchObject([[later(6, 2)], { length: 1 }]);
    expect(before.readChanges()).toEqual([]);
    await expect(before.save(head(7))).rejects.toBeInstanceOf(LogHalted);
  });

  it('is noticed by a process of before that only reads', async () => {
    const stop = vi.fn(oneLog.stop);
    const before = openSavedHead(path, { ...oneLog, stop });
    await before.save(head(8));
    expect(before.readChanges()).toEqual([]);
    await savedHead(path).restart(null);
    expect(before.readChanges()).toEqual([]);
    expect(stop).toHaveBeenCalledWith({
      known: { tree_size: 0, root_hash: EMPTY_ROOT.toString('hex') },
      found: headName(head(8)),
    });
  });

  it('may leave an empty log, which goes on as a new one', async () => {
    await savedHead(path).save(head(8));
    await savedHead(path).restart(null);
    expect(await savedHead(path).readAll()).toEqual([]);
    await savedHead(path).save(head(0));
    expect(await savedHead(path).readAll()).toEqual([head(0)]);
    await savedHead(path).restart(head(0));
    expect(await savedHead(path).readAll()).toEqual([head(0)]);
  });

  it('counts also after another, and after log-head.json was damaged or put back from before it', async () => {
    const [first, old] = [savedHead(path), savedHead(path)];
    await first.save(head(8));
    const of_before = await readFile(path);
    await savedHead(path).restart(head(3));
    await old.save(head(5));
    await writeFile(path, of_before);
    expect(await savedHead(path).readAll()).toEqual([head(5)]);
    await writeFile(path, '{');
    await savedHead(path).restart(head(4));
    expect(await savedHead(path).readAll()).toEqual([head(4)]);
    for (const saved of [first, old]) await expect(saved.save(head(9))).rejects.toBeInstanceOf(LogHalted);
  });
});

describe('what others have saved', () => {
  it('is told once, and what was saved here is not', async () => {
    const [ours, theirs] = [savedHead(path), savedHead(path)];
    await ours.save(head(1));
    expect(ours.readChanges()).toEqual([]);
    await theirs.save(head(2));
    expect(ours.readChanges()).toEqual([head(2)]);
    expect(ours.readChanges()).toEqual([]);
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
