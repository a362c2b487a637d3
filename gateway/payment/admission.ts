import { Refusal } from '../../schema/errors.ts';
import type { TaskId } from '../../schema/ids.ts';
import type { Context } from '../../subgraphs/context.ts';
import { claimByKey } from '../../subgraphs/receipt/index.ts';
import { claimKey } from './authorization.ts';
import { rejected } from './authorized.ts';
import { type Presented, payerOf, refusedClaim } from './claimed.ts';
import type { Till } from './till.ts';

export type Admission =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'replayed'; readonly task_id: TaskId; readonly answer_box: Buffer | null };

/**
 * Whether there is time to settle the payment, and the paid field would serve this payer. A refusal is looked at twice:
 * a payment that has expired, or a wallet that is "registered already", may be so by this very payment, which is owed
 * its answer, or the word that it is on its way: a 402 would make it pay again. That look-up costs the refused alone.
 */
export async function admission(till: Till, presented: Presented, context: Context): Promise<Admission> {
  const { paid, args, payment } = presented;
  try {
    if (payment.late !== null) throw rejected(till, paid, payment.late);
    await paid.admit?.(args, payerOf(payment), context);
    return { kind: 'admitted' };
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    const claim = await claimByKey(till.database, claimKey(payment.authorization));
    if (claim === null || claim.requestHash !== presented.request_hash) throw refusal;
    switch (claim.state) {
      case 'recorded':
        return { kind: 'replayed', task_id: claim.taskId, answer_box: claim.answerBox };
      case 'claimed':
        throw refusedClaim({ kind: 'in_flight' }, paid);
      case 'settling':
        throw refusedClaim({ kind: 'pending' }, paid);
      case 'released':
        throw refusal;
    }
  }
}
