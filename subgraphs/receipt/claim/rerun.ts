import type { TaskId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import type { Database, Tx } from '../../database.ts';
import { CALL_SECONDS_MAX, hasDied, living, mayRun } from './lease.ts';

/* Reruns: the work of a recorded payment without an answer is done again, by one process at a time, while the answer is still owed. */

/** Hold of a process on a recorded payment without an answer, while the process does the work again. */
export interface RerunHold {
  readonly claim_key: string;
  readonly owner: string;
}

type TakenRerun =
  | { readonly kind: 'taken'; readonly task_id: TaskId /** Number of earlier reruns. */; readonly reruns: number }
  /** The payment has an answer now. */
  | { readonly kind: 'kept' }
  /** A living process is doing the rerun. */
  | { readonly kind: 'held' }
  /**
   * The payment can no longer bring an answer: its request is not stored, its transfer never arrived, or its reruns or its time are used
   * up.
   */
  | { readonly kind: 'gone' };

/**
 * SQL over payment_claim: true while a resend may bring an answer. The request is stored, the transfer is not known to be missing, and
 * neither reruns nor time are used up.
 */
const IS_ASKED = `request_box <> '' and arrival is distinct from 'unverified' and reruns < ${limits.reruns_max}
  and moved_at > now() - interval '${limits.answer_kept_hours} hours'`;

interface RerunState extends Record<string, unknown> {
  readonly task_id: TaskId;
  readonly answered: boolean;
  readonly reruns: number;
  readonly asked: boolean;
  readonly held: boolean;
}

/** Takes the hold if no process has it, or if the process that has it died or lost its lease. */
export async function takeRerun(tx: Tx, { claim_key, owner }: RerunHold): Promise<TakenRerun> {
  const { rows } = await tx.query<RerunState>({
    name: 'meet rerun',
    text: `select task_id, answer_box is not null as answered, reruns, ${IS_ASKED} as asked, ${living('c.rerun_owner', 'c.rerun_at')} as held
      from payment_claim c where claim_key = $1 and state = 'recorded' for update`,
    values: [claim_key],
  });
  const [claim] = rows;
  if (claim?.answered) return { kind: 'kept' };
  if (!claim?.asked) return { kind: 'gone' };
  if (claim.held) return { kind: 'held' };
  await tx.query({
    name: 'take rerun',
    text: 'update payment_claim set rerun_owner = $2, rerun_at = now() where claim_key = $1',
    values: [claim_key, owner],
  });
  return { kind: 'taken', task_id: claim.task_id, reruns: claim.reruns };
}

/** Sealed answer of a payment; null if none is stored. Read outside any transaction, because it may be megabytes. */
export async function keptAnswer(database: Pick<Database, 'query'>, claim_key: string): Promise<Buffer | null> {
  const [claim] = await database.query<{ readonly answer_box: Buffer | null }>({
    name: 'kept answer',
    text: 'select answer_box from payment_claim where claim_key = $1',
    values: [claim_key],
  });
  return claim?.answer_box ?? null;
}

/** Whether a recorded payment, sent again, may still bring an answer. Once false, it stays false. */
export async function isResendOpen(database: Pick<Database, 'query'>, claim_key: string): Promise<boolean> {
  const open = await database.query({
    name: 'resend is open',
    text: `select from payment_claim where claim_key = $1 and state = 'recorded' and ${IS_ASKED}`,
    values: [claim_key],
  });
  return open.length > 0;
}

/** Why a process no longer holds a rerun. */
export type LostRerun =
  /** Another process has answered meanwhile, or is doing the rerun. */
  | 'elsewhere'
  /** The time for resends is over, or the payment was refunded, so it can no longer bring an answer. */
  | 'closed';

/** Extends the hold by the same time again. Called before any part of an answer is sent. */
export async function renewRerun(tx: Tx, { claim_key, owner }: RerunHold): Promise<'held' | LostRerun> {
  const { rowCount } = await tx.query({
    name: 'renew rerun',
    text: `update payment_claim set rerun_at = now()
      where claim_key = $1 and rerun_owner = $2 and answer_box is null and request_box <> ''`,
    values: [claim_key, owner],
  });
  return rowCount === 1 ? 'held' : lostRerun(tx, claim_key);
}

/** Stores the answer and ends the hold. Compare-and-set: nothing is stored if this process has lost the hold. */
export async function keepRerun(
  tx: Tx,
  { claim_key, owner }: RerunHold,
  answer_box: Buffer,
): Promise<'kept' | LostRerun> {
  const { rowCount } = await tx.query({
    name: 'keep rerun',
    text: `update payment_claim set answer_box = $3, reruns = reruns + 1, rerun_owner = null, rerun_at = null
      where claim_key = $1 and rerun_owner = $2 and answer_box is null and request_box <> ''`,
    values: [claim_key, owner, answer_box],
  });
  return rowCount === 1 ? 'kept' : lostRerun(tx, claim_key);
}

async function lostRerun(tx: Tx, claim_key: string): Promise<LostRerun> {
  const { rows } = await tx.query<{ closed: boolean }>({
    name: 'look why a rerun is lost',
    text: `select answer_box is null and request_box = '' as closed from payment_claim where claim_key = $1`,
    values: [claim_key],
  });
  return rows[0]?.closed ? 'closed' : 'elsewhere';
}

/** Ends the hold without an answer. `counts`: whether this was one of the reruns that the payment allows. */
export async function dropRerun(tx: Tx, { claim_key, owner }: RerunHold, counts: boolean): Promise<void> {
  await tx.query({
    name: 'drop rerun',
    text: `update payment_claim set reruns = reruns + $3, rerun_owner = null, rerun_at = null
      where claim_key = $1 and rerun_owner = $2`,
    values: [claim_key, owner, counts ? 1 : 0],
  });
}

/** Label under which the answer to a paid task is sealed. A box that was moved to another task does not open. */
export const answerLabel = (task_id: string): string => `answer:${task_id}`;

/** Label under which the answer to a call with an API key and an Idempotency-Key is sealed. */
export const keyAnswerLabel = (task_id: string): string => `by-key:${answerLabel(task_id)}`;

/** A recorded payment whose answer may still be owed. */
export interface OwedAnswer {
  readonly claim_key: string;
  /** Time until which the same payment, sent again, may bring its answer. Null if an answer is stored, or if none can follow. */
  readonly until: Date | null;
}

const IS_OWED = `c.answer_box is null and c.arrival is distinct from 'unverified' and c.reruns < ${limits.reruns_max}`;

/**
 * SQL: true while a rerun may be answering. A whole answer is sent only after it is stored, and closing the resend prevents that, so such a
 * rerun ends with the lease of its process. The text of a stream is sent before it is stored, even by a process whose lease the database no
 * longer shows, so such a rerun counts for as long as a call may take.
 */
const IS_ANSWERED = `${mayRun('c.rerun_at')} and (c.field like 'Subscription.%' or not ${hasDied('c.rerun_owner')})`;

/**
 * Locks the payment of a task on the book of `agent_id`; null if no payment of this task is recorded there. A rerun in progress may answer
 * until the longest duration of a call is over, even after the hours for resends, unless its process died before it sent anything. The
 * payment must be locked before the heads of books.
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

/**
 * Ends the reruns of a payment that is refunded, so that it can no longer bring an answer. The caller has locked the payment, so a process
 * that answers later finds that it has lost the hold.
 */
export function closeResend(tx: Tx, claim_key: string): void {
  tx.write({
    name: 'close resend',
    text: `update payment_claim set request_box = '', rerun_owner = null, rerun_at = null
      where claim_key = $1 and answer_box is null`,
    values: [claim_key],
  });
}
