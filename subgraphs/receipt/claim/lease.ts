import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Tx } from '../../database.ts';
import { JOBS_SCHEMA } from '../../migrate-jobs.ts';

/**
 * Duration of a lease. A process holds all its claims under one lease, so it needs one write every few seconds, whatever the number of
 * calls.
 */
const LEASE_SECONDS = 6;

/**
 * Longer than any call may take. After this time a claim is free even if its process is alive, because that process may have lost track of
 * it. A trigger contains the same number (../migration.ts), so a change here needs a new trigger.
 */
export const CALL_SECONDS_MAX = 180;

/**
 * Generation that a process states in its lease, so that others know what they can rely on during an upgrade. From 1 on, a process sends a
 * whole answer only after storing it, and can read jobs that were refused or canceled.
 */
export const PROCESS_GENERATION = 1;

/** SQL over an alias of payment_claim: true while the process of the claim is alive and may be working on it, by the database's clock. */
export const leased = (claim: string): string => living(`${claim}.lease_owner`, `${claim}.moved_at`);

/** SQL over two columns: true while the process in `owner` is alive and may be doing the work that it began at `since`. */
export const living = (owner: string, since: string): string => `(${mayRun(since)} and ${alive(owner)})`;

/**
 * SQL: true while work that began at `since` may be in progress, even if the lease of its process is not visible at the moment. Null if no
 * work began.
 */
export const mayRun = (since: string): string => `${since} > now() - interval '${CALL_SECONDS_MAX} seconds'`;

/** SQL: true while the process is alive, even if it has lost track of its work. */
export const alive = (owner: string): string =>
  `exists (select 1 from process_lease p where p.owner = ${owner} and p.expires_at > now())`;

/** SQL: true if a process of this generation or a later one has died: its lease exists and has expired. */
export const hasDied = (owner: string): string => `exists (select 1 from process_lease p
  where p.owner = ${owner} and p.expires_at <= now() and p.generation >= ${PROCESS_GENERATION})`;

/** Whether a process of an earlier generation is running too. Such a process cannot read everything that this one could write. */
export async function earlierServes(client: Pick<Tx, 'query'>): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'earlier generation serves',
    text: `select from process_lease where expires_at > now() and generation < ${PROCESS_GENERATION} limit 1`,
  });
  return (rowCount ?? 0) > 0;
}

/** Creates or extends the lease of a process. Resolves with the database's time in Unix milliseconds. */
export async function renewLease(client: Pick<Tx, 'query'>, owner: string): Promise<number> {
  const { rows } = await client.query<{ now_ms: number }>({
    name: 'renew lease',
    text: `insert into process_lease (owner, expires_at, generation) values ($1, now() + make_interval(secs => $2), $3)
      on conflict (owner) do update set expires_at = excluded.expires_at
      returning floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`,
    values: [owner, LEASE_SECONDS, PROCESS_GENERATION],
  });
  return rows[0]?.now_ms ?? Number.NaN;
}

/** Ends the lease on a clean stop, so that other processes can take its open claims at once. */
export async function endLease(client: Pick<Tx, 'query'>, owner: string): Promise<void> {
  await client.query({ text: 'delete from process_lease where owner = $1', values: [owner] });
}

/** Whether a process other than `but` has a valid lease on this database. */
export async function anybodyServes(database: Pick<Database, 'query'>, but: string | null = null): Promise<boolean> {
  const living = await database.query({
    text: 'select 1 from process_lease where expires_at > now() and owner is distinct from $1 limit 1',
    values: [but],
  });
  return living.length > 0;
}

const LOOK_MS = 250;

/**
 * Whether a process other than `but` is running. It waits for the duration of a lease, so that a process that was killed a moment ago does
 * not count.
 */
export async function anybodyStillServes(
  database: Pick<Database, 'query'>,
  but: string | null = null,
): Promise<boolean> {
  const known_ms = performance.now() + LEASE_SECONDS * 1_000;
  while (await anybodyServes(database, but)) {
    if (performance.now() > known_ms) return true;
    await sleep(LOOK_MS);
  }
  return false;
}

/** Report of one process about its job workers. */
interface WorkerSweep {
  readonly owner: string;
  /**
   * Ids of its running workers. They are stored before they take a job, and again if another process has deleted them because this one
   * seemed dead.
   */
  readonly workers: readonly string[];
  /** Ids of its workers that have ended. Jobs that they still hold are freed. */
  readonly ended: readonly string[];
  /** Whether workers of a process without a valid lease count as dead, so that their jobs are freed. */
  readonly steady: boolean;
}

/**
 * Frees the jobs of dead workers. With the library alone, a job would stay locked for four hours after its process was killed. Resolves
 * with the number of workers that were removed.
 */
export async function sweepWorkers(
  database: Pick<Database, 'query'>,
  { owner, workers, ended, steady }: WorkerSweep,
): Promise<number> {
  const rows = await database.query<{ freed: number }>({
    name: 'sweep workers',
    text: `with noted as (
        insert into job_worker (worker_id, owner) select unnest($1::text[]), $2 on conflict do nothing),
      gone as (
        delete from job_worker w where worker_id = any($3::text[]) or ($4 and not ${alive('w.owner')})
        returning worker_id),
      freed as (
        select ${JOBS_SCHEMA}.force_unlock_workers(array_agg(worker_id)), count(*)::int as count from gone
        having count(*) > 0)
      select coalesce((select count from freed), 0) as freed`,
    values: [workers, owner, ended, steady],
  });
  return rows[0]?.freed ?? 0;
}
