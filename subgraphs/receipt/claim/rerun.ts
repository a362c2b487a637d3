import type { TaskId } from '../../../schema/ids.ts';
import type { Tx } from '../../database.ts';
import { living } from './lease.ts';

/** A recorded payment without an answer, held by the process that does its work once more. */
export interface RerunHold {
  readonly claim_key: string;
  readonly owner: string;
}

export type TakenRerun =
  | { readonly kind: 'taken'; readonly task_id: TaskId }
  /** There is an answer by now. */
  | { readonly kind: 'kept'; readonly answer_box: Buffer }
  /** A living process is at it. */
  | { readonly kind: 'held' }
  /** Its request is kept no longer, or its money never came. */
  | { readonly kind: 'gone' };

/** Takes the hold where nobody has it, or only a process that died or lost sight of it. */
export async function takeRerun(tx: Tx, { claim_key, owner }: RerunHold): Promise<TakenRerun> {
  const { rows } = await tx.query<{ task_id: TaskId; answer_box: Buffer | null; asked: boolean; held: boolean }>({
    name: 'meet rerun',
    text: `select task_id, answer_box, request_box <> '' and arrival is distinct from 'unverified' as asked, ${living('c.rerun_owner', 'c.rerun_at')} as held
      from payment_claim c where claim_key = $1 and state = 'recorded' for update`,
    values: [claim_key],
  });
  const [claim] = rows;
  if (claim?.answer_box) return { kind: 'kept', answer_box: claim.answer_box };
  if (!claim?.asked) return { kind: 'gone' };
  if (claim.held) return { kind: 'held' };
  await tx.query({
    name: 'take rerun',
    text: 'update payment_claim set rerun_owner = $2, rerun_at = now() where claim_key = $1',
    values: [claim_key, owner],
  });
  return { kind: 'taken', task_id: claim.task_id };
}

/** Compare-and-set: false where another process has answered meanwhile, or the request was forgotten. */
export async function keepRerun(tx: Tx, { claim_key, owner }: RerunHold, answer_box: Buffer): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'keep rerun',
    text: `update payment_claim set answer_box = $3, rerun_owner = null, rerun_at = null
      where claim_key = $1 and rerun_owner = $2 and answer_box is null and request_box <> ''`,
    values: [claim_key, owner, answer_box],
  });
  return rowCount === 1;
}

export async function dropRerun(tx: Tx, { claim_key, owner }: RerunHold): Promise<void> {
  await tx.query({
    name: 'drop rerun',
    text: 'update payment_claim set rerun_owner = null, rerun_at = null where claim_key = $1 and rerun_owner = $2',
    values: [claim_key, owner],
  });
}
