import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { savedHead } from '../../../../subgraphs/receipt/log/saved-head.ts';
import { programOf } from '../../../harness/gateway.ts';
import { headOf, logsOf } from '../../../harness/log/leaves.ts';
import { withParentDeathSignal } from '../../../harness/parent-death-signal.ts';
import { atEnd } from '../../../harness/release.ts';
import { ROOT } from '../../../harness/root.ts';
import { clearScratch, makeScratch } from '../../../harness/scratch.ts';

interface Saver {
  readonly child: ChildProcess;
  /** Saves the heads of a log, from a size on. */
  save(work: { readonly path: string; readonly leaves: string; readonly from: number }): void;
  /** The next outcome; null if it was killed before. */
  next(): Promise<{ readonly size: number; readonly outcome: string } | null>;
}

function startSaver(): Saver {
  const program = [...programOf('test/harness/log/save-heads.child.ts')];
  const child = spawn(...withParentDeathSignal(process.execPath, program), {
    cwd: ROOT,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  atEnd(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    save: work => void child.stdin.write(`${JSON.stringify(work)}\n`),
    async next() {
      const { value, done } = await lines.next();
      return done ? null : JSON.parse(value);
    },
  };
}

async function scratch(): Promise<string> {
  const folder = await makeScratch();
  atEnd(() => clearScratch(folder));
  return folder;
}

it('of two processes that have signed different logs, at most one answers, however they race', async () => {
  const folder = await scratch();
  const savers = [startSaver(), startSaver()];
  const logs = ['common, one', 'common, an other'];
  let answers = 0;
  for (let round = 1; round <= 40; round++) {
    const path = join(folder, String(round), 'log-head.json');
    await mkdir(join(folder, String(round)));
    await savedHead(
      path,
      logsOf(() => logs),
    ).save(headOf('common'));
    // Of one size, or of two: the longer one begins at the size of the shorter.
    const sizes = logs.map(log => (round % 2 === 0 ? log.length : 9));
    for (const [index, log] of logs.entries()) {
      const from = sizes[index] ?? 0;
      savers[index]?.save({ path, leaves: log.slice(0, from), from });
    }
    const outcomes = await Promise.all(savers.map(saver => saver.next()));
    const answered = outcomes.filter(it => it?.outcome === 'saved').length;
    expect(outcomes.filter(it => it?.outcome === 'unavailable')).toHaveLength(2 - answered);
    expect(answered).toBeLessThanOrEqual(1);
    answers += answered;
  }
  expect(answers).toBeGreaterThan(0);
});

it('whatever processes were killed while they wrote: all that was answered is still saved', async () => {
  const path = join(await scratch(), 'log-head.json');
  const leaves = 'leaf'.repeat(2_000);
  let largest = 0;
  for (let round = 1; round <= 2; round++) {
    const savers = [startSaver(), startSaver(), startSaver()];
    for (const saver of savers) saver.save({ path, leaves, from: largest });
    await Promise.all(
      savers.map(async ({ child, next }, index) => {
        for (let outcome = await next(), left = 50 * (index + round); outcome !== null; outcome = await next()) {
          expect(outcome.outcome).toBe('saved');
          largest = Math.max(largest, outcome.size);
          if (--left === 0) child.kill('SIGKILL');
        }
      }),
    );
    const heads = await savedHead(path).readAll();
    expect(heads[0]?.tree_size).toBeGreaterThanOrEqual(largest);
    for (const head of heads) expect(head).toEqual(headOf(leaves.slice(0, head.tree_size)));
  }
});
