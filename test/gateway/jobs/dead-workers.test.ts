import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { addJob } from '../../../subgraphs/jobs.ts';
import { programOf } from '../../harness/gateway.ts';
import { openTestJobs } from '../../harness/jobs.ts';
import { withParentDeathSignal } from '../../harness/parent-death-signal.ts';
import { atEnd } from '../../harness/release.ts';
import { ROOT } from '../../harness/root.ts';
import { freshStore } from '../../harness/store.ts';

const HELD = { task: 'periodic/held', payload: {} } as const;

async function startHolder(url: string) {
  const program = [...programOf('test/harness/hold-job.child.ts'), url];
  const child = spawn(...withParentDeathSignal(process.execPath, program), {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', bytes => (said += bytes));
  const exited = once(child, 'exit');
  const kill = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exited;
  };
  atEnd(() => kill('SIGKILL'));
  await expect.poll(() => said).toContain('open');
  return { child, kill, output: () => said };
}

it('SIGKILL: the job and the queue of the dead are free within seconds, those of the living stay theirs', async () => {
  const database = await freshStore();
  const left = () =>
    database.query({
      text: `select queue_name, locked_by is not null as locked from graphile_worker.jobs order by queue_name`,
    });
  const dying = await startHolder(database.url);
  await addJob(database, { ...HELD, queue: 'of the dead' });
  await expect.poll(dying.output).toContain('held');
  const living = await startHolder(database.url);
  const oneForTheLiving = async () => {
    // The other may be faster, and does it.
    if (!living.output().includes('held')) await addJob(database, { ...HELD, queue: 'of the living', key: 'living' });
    return living.output();
  };
  await expect.poll(oneForTheLiving, { interval: 300 }).toContain('held');
  await expect.poll(async () => (await left()).length).toBe(2);

  const done: string[] = [];
  const jobs = await openTestJobs(database, {
    tasks: { 'periodic/held': { run: async (_, { attempt }) => void done.push(`run ${attempt}`) } },
  });
  atEnd(() => jobs.stop());
  expect(await left()).toEqual([
    { queue_name: 'of the dead', locked: true },
    { queue_name: 'of the living', locked: true },
  ]);
  await dying.kill('SIGKILL');
  await addJob(database, { ...HELD, queue: 'of the dead' });
  await expect.poll(left).toEqual([{ queue_name: 'of the living', locked: true }]);
  // By whichever of the two that were left: what was held is run a second time, what waited for it once.
  const runs = [...done, ...(living.output().match(/run \d+/g) ?? [])];
  expect(runs.sort()).toEqual(['run 1', 'run 2']);
  await living.kill('SIGKILL');
  await expect.poll(left).toEqual([]);
});
