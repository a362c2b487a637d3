import { jobLimits } from '../../../schema/limits.ts';
import type { Database } from '../../database.ts';
import { appendBoardEvents, lockBoard } from '../event/append.ts';
import { OVER, REFUSED_BEFORE } from './find.ts';
import { expiringStates } from './job.machine.ts';

/**
 * Records that jobs have ended whose time is over, the oldest first, and returns their number. The number per round is limited; the next
 * round continues. A job whose first leg is paid or being paid does not expire. A second round at the same time, in any process, finds
 * nothing.
 */
export async function expireJobs(database: Pick<Database, 'query' | 'transaction'>): Promise<number> {
  if ((await database.query(OVER_NOW)).length === 0) return 0;
  return database.transaction(async tx => {
    lockBoard(tx);
    const { rows } = await tx.query<{ job_id: string; state: 'refused' | 'expired'; now_ms: number }>({
      name: 'expire jobs',
      // Another round may have locked the head first, so the condition is checked again under the lock.
      text: `with over as materialized (${OVER_NOW.text})
        update board_job j set state = case when ${REFUSED_BEFORE} then 'refused' else 'expired' end, ends_at = null
        from over where j.job_id = over.job_id
        returning j.job_id, j.state, (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`,
      values: OVER_NOW.values,
    });
    const ended = rows.map(({ job_id }) => job_id);
    tx.write({
      name: 'expire bids',
      text: `update board_bid set state = 'expired' where job_id = any($1) and state = 'open'`,
      values: [ended],
    });
    const happened = rows.map(
      ({ job_id, state, now_ms }) => ({ kind: `job_${state}`, job_id, at_ms: Math.floor(now_ms) }) as const,
    );
    appendBoardEvents(tx, happened);
    return ended.length;
  });
}

/** Selects the jobs whose time is over, the oldest first, by the index of `ends_at`. */
const OVER_NOW = {
  name: 'jobs that are over',
  text: `select job_id from board_job where ${OVER} and state = any($1) order by ends_at limit $2`,
  values: [expiringStates, jobLimits.expired_per_round_max],
};
