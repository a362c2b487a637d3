import { expect, it } from 'vitest';
import { openStore } from '../../../gateway/parts.ts';
import { addJob } from '../../../subgraphs/jobs.ts';
import { freshDatabase } from '../../harness/database.ts';
import { startDatabaseProxy } from '../../harness/faults/wire.ts';
import { openTestJobs } from '../../harness/jobs.ts';
import { atEnd } from '../../harness/release.ts';

const ECHO = { task: 'periodic/echo', payload: {} } as const;

it('a database that was away, also while a job ran: its job is done again, others are done, periodic ones go on', async () => {
  const { url } = await freshDatabase();
  const wire = await startDatabaseProxy(url);
  const [database, beside] = [await openStore(wire.url), await openStore(url)];
  atEnd(() => Promise.all([database.close(), beside.close()]));
  const released = Promise.withResolvers<void>();
  let [begun, ticks] = [0, 0];
  const run = async () => {
    begun++;
    await released.promise;
  };
  const tick = async () => {
    ticks++;
    return undefined;
  };
  const jobs = await openTestJobs(database, {
    tasks: { 'periodic/echo': { run } },
    periodic: [{ name: 'tick', rest_ms: 200, run: tick }],
  });
  atEnd(() => jobs.stop());
  await addJob(beside, ECHO);
  await expect.poll(() => begun).toBe(1);
  await expect.poll(() => ticks).toBeGreaterThan(1);
  for (const outage of [1, 2]) {
    wire.down();
    // The outcome of the job cannot be noted: its worker is replaced, and what it held is released.
    released.resolve();
    await addJob(beside, ECHO);
    wire.up();
    const before = ticks;
    await expect.poll(() => ticks).toBeGreaterThan(before + 2);
    const left = { text: `select 1 from graphile_worker.jobs where task_identifier = 'periodic/echo'` };
    await expect.poll(() => beside.query(left)).toEqual([]);
    expect(begun).toBeGreaterThanOrEqual(1 + outage);
  }
  expect(await beside.query({ text: `select 1 from graphile_worker.jobs where key = 'periodic/tick'` })).toHaveLength(
    1,
  );
});

it('a job that was handed out to who lost the database before hearing of it: free again, though that process lives', async () => {
  const { url } = await freshDatabase();
  const wire = await startDatabaseProxy(url);
  const [database, beside] = [await openStore(wire.url), await openStore(url)];
  atEnd(() => Promise.all([database.close(), beside.close()]));
  const jobs = await openTestJobs(database, { tasks: { 'periodic/echo': { run: async () => {} } } });
  atEnd(() => jobs.stop());
  await addJob(beside, ECHO);
  await expect.poll(() => jobs.runs).toHaveLength(1);
  // The statement that notes its end names the same columns, and would be mistaken for a look.
  await expect.poll(() => beside.query({ text: 'select id from graphile_worker.jobs' })).toEqual([]);
  const locked = { text: 'select locked_by from graphile_worker._private_jobs where locked_by is not null' };
  const adding = await beside.connect();
  atEnd(() => adding.end());
  await adding.query('set idle_in_transaction_session_timeout = 0; set transaction_timeout = 0');
  await adding.query('begin; lock table graphile_worker._private_jobs in access exclusive mode');
  await adding.query(`select from graphile_worker.add_job('periodic/echo', '{}'::json)`);
  // A worker that looks for jobs waits for that lock, even after its connection is gone.
  const looking = {
    text: `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%locked_by%'
      and datname = current_database()`,
  };
  await expect.poll(async () => (await beside.query(looking)).length).toBeGreaterThan(0);
  wire.down();
  await adding.query('commit');
  await expect.poll(() => beside.query(locked)).toHaveLength(1);
  wire.up();
  await expect.poll(() => jobs.runs).toHaveLength(2);
});

it('a stop while the database is away is bounded, and what was held is free once its lease has ended', async () => {
  const { url } = await freshDatabase();
  const wire = await startDatabaseProxy(url);
  const [database, beside] = [await openStore(wire.url), await openStore(url)];
  atEnd(() => Promise.all([database.close(), beside.close()]));
  let begun = 0;
  const hang = async () => {
    begun++;
    await new Promise(() => {});
  };
  const jobs = await openTestJobs(database, { tasks: { 'periodic/echo': { run: hang } } });
  await addJob(beside, ECHO);
  await expect.poll(() => begun).toBe(1);
  wire.down();
  await jobs.stop();
  const other = await openTestJobs(beside, { tasks: { 'periodic/echo': { run: async () => {} } } });
  atEnd(() => other.stop());
  await expect.poll(() => other.runs).toEqual([{ task: 'periodic/echo', outcome: 'done' }]);
});
