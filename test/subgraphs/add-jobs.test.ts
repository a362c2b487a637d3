import { afterEach, expect, it } from 'vitest';
import { addJobs, type Job } from '../../subgraphs/jobs.ts';
import { openTestJobs } from '../harness/jobs.ts';
import { freshStore } from '../harness/store.ts';

const database = await freshStore();
afterEach(() => database.query({ text: 'delete from graphile_worker._private_jobs' }));

const jobOf = (agent_id: number): Job => {
  const queue = `webhook ${agent_id}`;
  return { task: 'webhook/book', payload: { agent_id }, queue, key: queue };
};
const add = (...jobs: readonly Job[]) => database.transaction(async tx => addJobs(tx, jobs));

it('a job of a key whose job is taken at that very moment is there as well: what it is for, that one may not see', async () => {
  await add(jobOf(1));
  const taking = await database.connect();
  await taking.query('begin');
  await taking.query(`update graphile_worker._private_jobs set locked_at = now(), locked_by = 'another'`);
  await add(jobOf(1), jobOf(2));
  await taking.query('commit');
  await taking.end();
  const jobs = await database.query({ text: 'select key, locked_by from graphile_worker.jobs order by id' });
  expect(jobs).toHaveLength(3);
  expect(jobs).toEqual(
    expect.arrayContaining([
      { key: 'webhook 1', locked_by: 'another' },
      { key: null, locked_by: null },
      { key: 'webhook 2', locked_by: null },
    ]),
  );
});

it('transactions that add jobs of many books and workers that end many at once do not wait for each other in a circle', async () => {
  const jobs = Array.from({ length: 30 }, (_, index) => jobOf(index + 1));
  const workers = await Promise.all(
    [1, 2].map(() => openTestJobs(database, { tasks: { 'webhook/book': { run: async () => {} } } })),
  );
  for (let round = 0; round < 300; round++) await add(...jobs);
  await expect.poll(async () => (await database.query({ text: JOBS_TO_RUN }))[0]).toEqual({ left: 0 });
  await Promise.all(workers.map(worker => worker.stop()));
  expect(await database.query({ text: DEADLOCKS })).toEqual([{ deadlocks: 0 }]);
});

const JOBS_TO_RUN = 'select count(*)::int as left from graphile_worker.jobs where attempts < max_attempts';
const DEADLOCKS = 'select deadlocks::int from pg_stat_database where datname = current_database()';
