import type { TaskId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import type { Database, Tx } from '../../database.ts';
import { living } from './lease.ts';

/** A recorded payment without an answer, held by the process that does its work once more. */
export interface RerunHold {
  readonly claim_key: string;
  readonly owner: string;
}

export type TakenRerun =
  | { readonly kind: 'taken'; readonly task_id: TaskId /** How many came before. */; readonly reruns: number }
  /** There is an answer by now. */
  | { readonly kind: 'kept' }
  /** A living process is at it. */
  | { readonly kind: 'held' }
  /** Its request is kept no longer, or its money never came. */
  | { readonly kind: 'gone' };

/** SQL over payment_claim: its money came, not too long ago, and its request is still there to be worked for. */
const IS_ASKED = `request_box <> '' and arrival is distinct from 'unverified' and reruns < ${limits.reruns_max}
  and moved_at > now() - interval '${limits.answer_kept_hours} hours'`;

interface Met extends Record<string, unknown> {
  readonly task_id: TaskId;
  readonly answered: boolean;
  readonly reruns: number;
  readonly asked: boolean;
  readonly held: boolean;
}

/** Takes the hold where nobody has it, or only a process that died or lost sight of it. */
export async function takeRerun(tx: Tx, { claim_key, owner }: RerunHold): Promise<TakenRerun> {
  const { rows } = await tx.query<Met>({
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

/** The answer that a payment has brought, sealed; null where it is kept no longer. Read outside of any transaction, since it may be megabytes. */
export async function keptAnswer(database: Pick<Database, 'query'>, claim_key: string): Promise<Buffer | null> {
  const [claim] = await database.query<{ readonly answer_box: Buffer | null }>({
    name: 'kept answer',
    text: 'select answer_box from payment_claim where claim_key = $1',
    values: [claim_key],
  });
  return claim?.answer_box ?? null;
}

/** Whether a recorded payment may still bring an answer. Once it may not, it never will again. */
export async function isResendOpen(database: Pick<Database, 'query'>, claim_key: string): Promise<boolean> {
  const open = await database.query({
    name: 'resend is open',
    text: `select from payment_claim where claim_key = $1 and state = 'recorded' and ${IS_ASKED}`,
    values: [claim_key],
  });
  return open.length > 0;
}

/** Why a process does not hold a payment any more. */
export type LostRerun =
  /** Another process has answered meanwhile, or is at it. */
  | 'elsewhere'
  /** Its time was over, or the payment was refunded: it brings no answer any more. */
  | 'closed';

/** Before anything goes out: holds on for as long again. */
export async function renewRerun(tx: Tx, { claim_key, owner }: RerunHold): Promise<'held' | LostRerun> {
  const { rowCount } = await tx.query({
    name: 'renew rerun',
    text: `update payment_claim set rerun_at = now()
      where claim_key = $1 and rerun_owner = $2 and answer_box is null and request_box <> ''`,
    values: [claim_key, owner],
  });
  return rowCount === 1 ? 'held' : lostRerun(tx, claim_key);
}

/** Compare-and-set. */
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

/** `counts`: it has brought what it could, and is one of those that the payment brings. */
export async function dropRerun(tx: Tx, { claim_key, owner }: RerunHold, counts: boolean): Promise<void> {
  await tx.query({
    name: 'drop rerun',
    text: `update payment_claim set reruns = reruns + $3, rerun_owner = null, rerun_at = null
      where claim_key = $1 and rerun_owner = $2`,
    values: [claim_key, owner, counts ? 1 : 0],
  });
}
