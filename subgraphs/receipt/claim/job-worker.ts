import type { Database } from '../../database.ts';
import { JOBS_SCHEMA } from '../../migrate-jobs.ts';
import { alive } from './lease.ts';

/** What one process says of workers. */
export interface WorkerSweep {
  readonly owner: string;
  /** Its own: noted before they take a job, and again where others took this process for dead meanwhile. */
  readonly workers: readonly string[];
  /** Of its own, those that have ended: what they still hold is free. */
  readonly ended: readonly string[];
  /** Whether workers of a process whose lease has ended are taken for dead, and what they hold is freed. */
  readonly steady: boolean;
}

/** By the library a job whose process was killed would stay locked for four hours. Resolves with the number of workers that were freed of jobs. */
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
