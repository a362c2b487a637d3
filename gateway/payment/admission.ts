import { Refusal } from '../../schema/errors.ts';
import type { Context } from '../../subgraphs/context.ts';
import { claimByKey, type PaymentClaim } from '../../subgraphs/receipt/index.ts';
import { rejected } from './authorized.ts';
import { claimKey } from './base/authorization.ts';
import { type Presented, payerOf, refusedClaim } from './claimed.ts';
import { spentAlready } from './preflight.ts';
import type { Bought } from './redeliver.ts';
import type { Till } from './till.ts';

export type Admission =
  /** `spent`: the payment is used already, by whomever; whether for us is still to be found out. */
  { readonly kind: 'admitted'; readonly spent: boolean } | ({ readonly kind: 'replayed' } & Bought);

/**
 * Whether there is time to settle the payment, the paid field would serve this payer, and he can pay. A refusal is
 * looked at twice: a payment may have expired, a wallet be "registered already" or a balance be gone by this very
 * payment, which is owed its answer, or the word that it is on its way: a 402 would make it pay again. That look-up
 * costs the refused alone.
 */
export async function admission(till: Till, presented: Presented, context: Context): Promise<Admission> {
  const { paid, args, payment } = presented;
  try {
    if (payment.late !== null) throw rejected(till, paid, payment.late);
    await paid.admit?.(args, payerOf(payment), context);
    return { kind: 'admitted', spent: await spentAlready(till, presented) };
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    const claim = await claimByKey(till.database, claimKey(payment.authorization));
    if (claim === null) throw refusal;
    return standing(claim, presented, refusal);
  }
}

function standing(claim: PaymentClaim, { paid, payment, request_hash }: Presented, refusal: Refusal): Admission {
  const task_id = claim.taskId;
  if (claim.state === 'released') {
    // Out of time and let go of, and the chain has not had its last word: somebody else may have used it for us.
    throw payment.late !== null && !claim.final ? refusedClaim({ kind: 'pending', task_id }, paid) : refusal;
  }
  if (claim.requestHash !== request_hash) throw refusedClaim({ kind: 'foreign', task_id }, paid);
  if (claim.state === 'claimed') throw refusedClaim({ kind: 'in_flight', task_id }, paid);
  if (claim.state === 'settling') throw refusedClaim({ kind: 'pending', task_id }, paid);
  return { kind: 'replayed', task_id, answer_box: claim.answerBox, landing: claim.landing };
}
