import { Refusal } from '../../schema/errors.ts';
import type { TaskId } from '../../schema/ids.ts';
import type { Context } from '../../subgraphs/context.ts';
import { claimByKey } from '../../subgraphs/receipt/index.ts';
import { claimKey } from './authorization.ts';
import { type Presented, payerOf } from './claimed.ts';
import type { Till } from './till.ts';

export type Admission =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'replayed'; readonly task_id: TaskId; readonly answer_box: Buffer | null };

/**
 * Asks the paid field whether it would serve this payer. A refusal is looked at twice: the wallet that this very payment
 * registered is "registered already", and is owed its answer. That look-up costs the refused alone.
 */
export async function admission(till: Till, presented: Presented, context: Context): Promise<Admission> {
  try {
    await presented.paid.admit?.(presented.args, payerOf(presented.payment), context);
    return { kind: 'admitted' };
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    const claim = await claimByKey(till.database, claimKey(presented.payment.authorization));
    if (claim?.state !== 'recorded' || claim.requestHash !== presented.request_hash) throw refusal;
    return { kind: 'replayed', task_id: claim.taskId, answer_box: claim.answerBox };
  }
}
