import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Tx } from '../../database.ts';
import { JOBS_SCHEMA } from '../../migrate-jobs.ts';

/** A process holds all its claims by one lease: one write every few seconds, whatever the number of calls. */
const LEASE_SECONDS = 6;

/**
 * Longer than any call may take; a claim that a living process lost sight of is free after this. A trigger has the same number
 * (../migration.ts): another one here is another trigger.
 */
export const CALL_SECONDS_MAX = 180;

/**
 * What a process states about itself in its lease, so that others know what they can rely on during an upgrade. From 1 on it sends no whole
 * answer that it could not keep, and it can read jobs that were refused or cancelled.
 */
export const PROCESS_GENERATION = 1;

/** SQL over an alias of payment_claim: true while its process is alive and may be at work on it, by the database's clock. */
export const leased = (claim: string): string => living(`${claim}.lease_owner`, `${claim}.moved_at`);

/** The same for any work that a process (`owner`) began at a time (`since`): SQL, over two columns. */
export const living = (owner: string, since: string): string => `(${mayRun(since)} and ${alive(owner)})`;

/** Whether work that began at a time may be in progress, also of a process whose lease is not visible just now. Null if none began. */
export const mayRun = (since: string): string => `${since} > now() - interval '${CALL_SECONDS_MAX} seconds'`;

/** Whether the process itself is alive, whatever it may have lost track of. */
export const alive = (owner: string): string =>
  `exists (select 1 from process_lease p where p.owner = ${owner} and p.expires_at > now())`;

/** Whether a process of this generation is known to have died: its lease exists, and has expired. */
export const hasDied = (owner: string): string => `exists (select 1 from process_lease p
  where p.owner = ${owner} and p.expires_at <= now() and p.generation >= ${PROCESS_GENERATION})`;

/** Whether a process of an earlier generation is also at work: it cannot read everything that this one could write. */
export async function earlierServes(client: Pick<Tx, 'query'>): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'earlier generation serves',
    text: `select from process_lease where expires_at > now() and generation < ${PROCESS_GENERATION} limit 1`,
  });
  return (rowCount ?? 0) > 0;
}

/** Resolves with the database's time, in milliseconds. */
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

/** On a clean stop: what this process left open may be taken at once. */
export async function endLease(client: Pick<Tx, 'query'>, owner: string): Promise<void> {
  await client.query({ text: 'delete from process_lease where owner = $1', values: [owner] });
}

/** Whether any process is at work on this database, except the named one. */
export async function anybodyServes(database: Pick<Database, 'query'>, but: string | null = null): Promise<boolean> {
  const living = await database.query({
    text: 'select 1 from process_lease where expires_at > now() and owner is distinct from $1 limit 1',
    values: [but],
  });
  return living.length > 0;
}

const LOOK_MS = 250;

/** The same, but a process that was killed a moment ago does not count as alive: its lease is waited out. */
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

/** What one process reports about workers. */
interface WorkerSweep {
  readonly owner: string;
  /** Its own: stored before they take a job, and again if others took this process for dead meanwhile. */
  readonly workers: readonly string[];
  /** Ended leases of this process: what they still hold is free. */
  readonly ended: readonly string[];
  /** Whether workers of a process whose lease has ended are taken for dead, and what they hold is freed. */
  readonly steady: boolean;
}

/**
 * With the library alone a job whose process was killed would stay locked for four hours. Resolves with the number of workers that were
 * freed of jobs.
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
