import type { Database } from '../../subgraphs/database.ts';
import type { PaymentClaim } from '../../subgraphs/receipt/claim/claim.entity.ts';
import { certaintyOf, doubtHeld } from '../../subgraphs/receipt/claim/doubt.ts';
import { paymentFromJson } from '../rails/payment.ts';
import { type Rails, railOf, sentOf } from '../rails/rail.ts';
import { correctLeg, isAsHeld, type KeptLeg } from '../record/correct-leg.ts';

/** `changing`: it is in doubt, or was just found to have moved elsewhere. `unknown`: the chain does not say. */
export type FirstStanding = 'stands' | 'changing' | 'unknown';

export type LookAtFirst = (first: KeptLeg & { readonly claim: PaymentClaim }) => Promise<FirstStanding>;

/**
 * Whether the first of two payments is where it is held. Seen once, it may have been taken out of its block since, and until
 * the finalized chain has it that is noticed only as it is asked about, or once its settlement is looked at again. What
 * is final is not asked about: a node forgets transactions in time, and this one stands for good.
 */
export function openLookAtFirst({ database, rails }: { database: Database; rails: Rails }): LookAtFirst {
  return async first => {
    const { claim } = first;
    const certainty = await certaintyOf(database, claim.claimKey);
    if (certainty !== 'seen') return certainty === 'final' ? 'stands' : 'changing';
    const decision = await railOf({ rails }, claim.network).decide(paymentFromJson(claim.authorization), sentOf(claim));
    if (decision.kind === 'unknown') return 'unknown';
    if (decision.kind === 'transferred' && isAsHeld(first, decision)) return 'stands';
    // A block to come may yet take it, so it is let go of only by whoever looks at what is doubted.
    if (decision.kind === 'not_transferred') await doubtHeld(database, claim.claimKey);
    else await database.transaction(tx => correctLeg(tx, first, decision));
    return 'changing';
  };
}
