import type { Database } from '../../subgraphs/database.ts';
import type { PaymentClaim } from '../../subgraphs/receipt/claim/claim.entity.ts';
import { certaintyOf, doubtHeld } from '../../subgraphs/receipt/claim/doubt.ts';
import { paymentFromJson } from '../rails/payment.ts';
import { type Rails, railOf, sentOf } from '../rails/rail.ts';
import { correctLeg, isAsHeld, type KeptLeg } from './record/correct-leg.ts';

/** `changing`: in doubt, or just found elsewhere. `unknown`: the chain does not say. */
export type FirstStanding = 'stands' | 'changing' | 'unknown';

export type LookAtFirst = (first: KeptLeg & { readonly claim: PaymentClaim }) => Promise<FirstStanding>;

/**
 * Whether the first of two payments is where it is held. Its block may have been replaced since, which is noticed only by asking
 * until the finalized chain has it. A final payment is not asked about: it is permanent, and nodes forget transactions in time.
 */
export function openLookAtFirst({ database, rails }: { database: Database; rails: Rails }): LookAtFirst {
  return async first => {
    const { claim } = first;
    const certainty = await certaintyOf(database, claim.claimKey);
    if (certainty !== 'seen') return certainty === 'final' ? 'stands' : 'changing';
    const decision = await railOf({ rails }, claim.network).decide(paymentFromJson(claim.authorization), sentOf(claim));
    if (decision.kind === 'unknown') return 'unknown';
    if (decision.kind === 'transferred' && isAsHeld(first, decision)) return 'stands';
    // A later block may still include it, so it is released only by the check of doubted payments.
    if (decision.kind === 'not_transferred') await doubtHeld(database, claim.claimKey);
    else await database.transaction(tx => correctLeg(tx, first, decision));
    return 'changing';
  };
}
