import { limits } from '../../../schema/limits.ts';
import type { Tx } from '../../database.ts';
import { CALL_SECONDS_MAX, hasDied, mayRun } from './lease.ts';

/** A recorded payment, and what it may still bring. */
export interface OwedAnswer {
  readonly claim_key: string;
  /** Until when the same payment, sent again, may bring its answer; null where one is kept, or none can come any more. */
  readonly until: Date | null;
}

const IS_OWED = `c.answer_box is null and c.arrival is distinct from 'unverified' and c.reruns < ${limits.reruns_max}`;

/**
 * A whole answer goes out only once it is kept, which closing the resend prevents: so its work ends with the lease of its process. The
 * text of a stream goes out before that, also from a process that the database does not see: its work counts for as long as a call may take.
 */
const IS_ANSWERED = `${mayRun('c.rerun_at')} and (c.field like 'Subscription.%' or not ${hasDied('c.rerun_owner')})`;

/**
 * Locks the payment of a task of that book; null where none was recorded for it. A call that is being answered counts until
 * its time is over, whatever the hour, unless its process has died with nothing gone out. To be taken before the heads of books.
 */
export async function lockOwedAnswer(
  tx: Tx,
  { agent_id, task_id }: { readonly agent_id: number; readonly task_id: string },
): Promise<OwedAnswer | null> {
  const { rows } = await tx.query<{ claim_key: string; until: Date | null }>({
    name: 'lock owed answer',
    text: `select claim_key, case when not (${IS_OWED}) then null
        when ${IS_ANSWERED} then greatest(
          c.moved_at + make_interval(hours => $3), c.rerun_at + interval '${CALL_SECONDS_MAX} seconds')
        when c.request_box = '' then null
        else c.moved_at + make_interval(hours => $3) end as until
      from payment_claim c where task_id = $1 and state = 'recorded'
        and exists (select from book_row r where r.agent_id = $2 and r.task_id = $1) for update of c`,
    values: [task_id, agent_id, limits.answer_kept_hours],
  });
  return rows[0] ?? null;
}

/** The payment is refunded: it brings nothing any more. It is locked, and a process that is late with its answer has lost it. */
export function closeResend(tx: Tx, claim_key: string): void {
  tx.write({
    name: 'close resend',
    text: `update payment_claim set request_box = '', rerun_owner = null, rerun_at = null
      where claim_key = $1 and answer_box is null`,
    values: [claim_key],
  });
}
