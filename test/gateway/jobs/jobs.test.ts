import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { PeriodicTask, Tasks } from '../../../gateway/jobs/task.ts';
import { loggerOn } from '../../../gateway/operations/logger.ts';
import { addJobs, forgetSuperseded, type Job } from '../../../subgraphs/jobs.ts';
import { type JobsOfTest, type OpenedJobs, openTestJobs } from '../../harness/jobs.ts';
import { freshStore } from '../../harness/store.ts';

const database = await freshStore();
const opened: OpenedJobs[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map(jobs => jobs.stop()));
  await database.query({ text: 'delete from graphile_worker._private_jobs' });
});

async function open(asked: JobsOfTest): Promise<OpenedJobs> {
  const jobs = await openTestJobs(database, asked);
  opened.push(jobs);
  return jobs;
}

const ECHO = { task: 'periodic/echo', payload: {} } as const;
const add = (...jobs: readonly Job[]) => database.transaction(async tx => addJobs(tx, jobs));
const jobsLeft = () =>
  database.query<{ key: string | null; locked_by: string | null; last_error: string | null }>({
    text: 'select key, locked_by, last_error from graphile_worker.jobs order by id',
  });
/** How often it was begun, and how many runs there were at once at most. */
function counting(run: (signal: AbortSignal) => Promise<unknown> = async () => {}) {
  const seen = { begun: 0, at_once: 0, at_once_max: 0 };
  const counted = async (signal: AbortSignal) => {
    seen.begun++;
    seen.at_once_max = Math.max(seen.at_once_max, ++seen.at_once);
    await run(signal).finally(() => seen.at_once--);
    return undefined;
  };
  return {
    seen,
    run: counted,
    tasks: { 'periodic/echo': { run: (_: unknown, { signal }) => counted(signal) } } as Tasks,
  };
}

describe('a job', () => {
  it('is there once its transaction has committed, is done by one of three workers, and gone', async () => {
    const echo = counting();
    await add(ECHO);
    const rolled_back = database.transaction(async tx => {
      addJobs(tx, [ECHO]);
      throw new Error('no');
    });
    await expect(rolled_back).rejects.toThrow('no');
    await Promise.all([open(echo), open(echo), open(echo)]);
    await expect.poll(jobsLeft).toEqual([]);
    await add({ ...ECHO, queue: 'a' }, { ...ECHO, queue: 'b' }, ECHO);
    await expect.poll(jobsLeft).toEqual([]);
    expect(echo.seen.begun).toBe(4);
  });

  it('of a queue waits for the one before it; others do not', async () => {
    const released = Promise.withResolvers<void>();
    const echo = counting(() => released.promise);
    await open(echo);
    await add(...Array.from({ length: 5 }, () => ({ ...ECHO, queue: 'slow' })), { ...ECHO, queue: 'other' }, ECHO);
    await expect.poll(() => echo.seen.at_once).toBe(3);
    released.resolve();
    await expect.poll(jobsLeft).toEqual([]);
    expect([echo.seen.begun, echo.seen.at_once_max]).toEqual([7, 3]);
  });

  it('that a transaction adds to queues in one order, and another in the other: neither waits in vain', async () => {
    const queues = Array.from({ length: 40 }, (_, index) => `new ${index}`);
    const jobs = queues.map(queue => ({ ...ECHO, queue }));
    await Promise.all(Array.from({ length: 8 }, (_, index) => add(...(index % 2 ? jobs : jobs.toReversed()))));
    expect(await jobsLeft()).toHaveLength(8 * 40);
  });

  it('that fails is tried again; neither log nor table is told what its error said', async () => {
    const lines: string[] = [];
    const fails = async () => {
      throw new TypeError('the secret is 12345');
    };
    const logger = loggerOn({ write: line => void lines.push(line) }, 'debug');
    const jobs = await open({ tasks: { 'periodic/echo': { run: fails } }, logger });
    await add(ECHO);
    await expect.poll(jobsLeft).toMatchObject([{ last_error: 'TypeError', locked_by: null }]);
    await expect.poll(() => jobs.runs.length).toBeGreaterThan(1);
    expect(jobs.runs[0]).toEqual({ task: 'periodic/echo', outcome: 'failed' });
    expect(lines.join('')).not.toContain('12345');
  });

  it('is left to others by a process whose log is halted', async () => {
    let halted = false;
    const [here, elsewhere] = [counting(), counting()];
    await open({ ...here, isHalted: () => halted });
    await add(ECHO);
    await expect.poll(jobsLeft).toEqual([]);
    halted = true;
    await add(ECHO, ECHO, ECHO);
    await open(elsewhere);
    await expect.poll(() => elsewhere.seen.begun).toBe(3);
    expect(here.seen.begun).toBe(1);
  });
});

describe('a stop', () => {
  it('waits for what is nearly done, and leaves no job behind', async () => {
    const released = Promise.withResolvers<void>();
    const echo = counting(() => released.promise);
    const jobs = await openTestJobs(database, echo);
    await add(ECHO);
    await expect.poll(() => echo.seen.begun).toBe(1);
    const stopped = jobs.stop();
    released.resolve();
    await stopped;
    expect(jobs.runs).toEqual([{ task: 'periodic/echo', outcome: 'done' }]);
    expect(await jobsLeft()).toEqual([]);
  });

  it('tells what goes on, abandons what does not listen, and others have it at once', async () => {
    const told: AbortSignal[] = [];
    const hangs = async (signal: AbortSignal) => {
      told.push(signal);
      await new Promise(() => {});
    };
    const jobs = await openTestJobs(database, counting(hangs));
    await add({ ...ECHO, queue: 'a' });
    await expect.poll(() => told.length).toBe(1);
    await jobs.stop();
    expect(told[0]?.aborted).toBe(true);
    expect(await jobsLeft()).toMatchObject([{ locked_by: null }]);
    expect(await database.query({ text: 'select 1 from job_worker' })).toEqual([]);
    await open(counting());
    await expect.poll(jobsLeft).toEqual([]);
  });
});

describe('a periodic task', () => {
  const tick = (run: PeriodicTask['run'], rest_ms = 300): PeriodicTask => ({ name: 'tick', rest_ms, run });

  it('is one process’s at a time, rests in between, and is one job for ever', async () => {
    const begun: number[] = [];
    const ended: number[] = [];
    const run = counting(async () => {
      begun.push(performance.now());
      await sleep(100);
      ended.push(performance.now());
    });
    const three = await Promise.all([1, 2, 3].map(() => open({ periodic: [tick(run.run)] })));
    await expect.poll(() => ended.length).toBeGreaterThan(5);
    expect(run.seen.at_once_max).toBe(1);
    // By the database's clock, in whole milliseconds.
    const rests = begun.slice(1).map((at, index) => at - (ended[index] ?? Number.NaN));
    expect(Math.min(...rests)).toBeGreaterThan(290);
    await Promise.all(three.map(jobs => jobs.stop()));
    opened.length = 0;
    expect(await jobsLeft()).toMatchObject([{ key: 'periodic/tick', locked_by: null }]);
    expect(three.flatMap(({ runs }) => runs)).toHaveLength(run.seen.begun);
  });

  it('goes on where it failed, and where somebody took its job away', async () => {
    let left = 2;
    const fails = counting(async () => {
      if (left-- > 0) throw new Error('not yet');
    });
    const jobs = await open({ periodic: [tick(fails.run)] });
    const outcomes = () => jobs.runs.map(({ outcome }) => outcome).slice(0, 3);
    await expect.poll(outcomes).toEqual(['failed', 'failed', 'done']);
    await database.query({ text: 'delete from graphile_worker._private_jobs' });
    const { begun } = fails.seen;
    await expect.poll(() => fails.seen.begun).toBeGreaterThan(begun);
    await expect.poll(async () => (await jobsLeft()).length).toBe(1);
  });

  it('may ask for another rest; what was put back beside a run is no second job', async () => {
    const soon = counting();
    const run = (signal: AbortSignal) => soon.run(signal).then(() => ({ rest_ms: 100 }));
    await open({ periodic: [tick(run, 3_600_000)] });
    await expect.poll(() => soon.seen.begun).toBeGreaterThan(2);
    await database.query({ text: `update graphile_worker._private_jobs set key = null, attempts = max_attempts` });
    await expect.poll(async () => (await jobsLeft()).filter(({ key }) => key !== null).length).toBe(1);
    await forgetSuperseded(database);
    expect(await jobsLeft()).toMatchObject([{ key: 'periodic/tick' }]);
  });
});
