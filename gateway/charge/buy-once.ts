import { type ErrorCode, Refusal } from '../../schema/errors.ts';
import type { Context } from '../../subgraphs/context.ts';
import { type NamedPayment, namedPayment } from '../../subgraphs/receipt/claim/identifier.ts';
import { claimByKey } from '../../subgraphs/receipt/claim/transitions.ts';
import { claimKey } from '../rails/payment.ts';
import { railOf } from '../rails/rail.ts';
import { nameInFlight, namesOf } from './call-names.ts';
import { type Presented, refusedClaim } from './claim-request.ts';
import { requireNoGuessOf } from './guesses.ts';
import { hearsOf } from './hears.ts';
import type { Entered } from './paid-whole.ts';
import type { Till } from './till.ts';

/** A first that is let go of while the second looks at it leaves the name to whoever comes next. */
const LOOKS_MAX = 3;

/**
 * What a payer has named is bought once: under the same name another payment of his for the same request gets what the
 * first one bought, and is neither claimed nor sent. The name is claimed with the first payment, in one commit; whoever
 * comes second is told by that, or by the balance that the first has taken, so each of the two is looked at again.
 */
export async function boughtOnce(
  till: Till,
  presented: Presented,
  context: Context,
  enter: () => Promise<Entered>,
): Promise<Entered> {
  const names = namesOf(presented);
  if (names.length === 0) return enter();
  for (let looks = 1; ; looks++) {
    const before = await boughtUnderAny(till, names, presented, context);
    if (before) return before;
    try {
      return await enter();
    } catch (refusal) {
      if (!(refusal instanceof Refusal) || !byAnother.has(refusal.code)) throw refusal;
      const since = await boughtUnderAny(till, names, presented, context);
      if (since) return since;
      if (refusal.code !== 'payment_in_flight' || looks >= LOOKS_MAX) throw refusal;
    }
  }
}

/** What may be another payment's doing: it holds the name, what a stamp is for, or the payer's balance is promised to it. */
const byAnother: ReadonlySet<ErrorCode> = new Set([
  ...(['payment_in_flight', 'payment_rejected', 'wallet_registered', 'duplicate_ref'] as const),
]);

/** A purchase may have two names: what either has bought is not bought again. */
async function boughtUnderAny(
  till: Till,
  names: readonly NamedPayment[],
  presented: Presented,
  context: Context,
): Promise<Entered | null> {
  for (const named of names) {
    const bought = await boughtUnder(till, named, presented, context);
    if (bought) return bought;
  }
  return null;
}

/**
 * What another payment bought under that name; null where none stands there.
 * @throws payment_identifier_conflict, idempotency_key_conflict, payment_in_flight, settlement_pending, payer_proof_required; payment_rejected
 * where it is not the payer who asks: to anybody else nothing of it is told.
 */
async function boughtUnder(
  till: Till,
  named: NamedPayment,
  presented: Presented,
  context: Context,
): Promise<Entered | null> {
  const { paid, payment } = presented;
  const standing = await namedPayment(till.database, named, presented);
  const own_key = claimKey(payment.authorization);
  if (standing === null || standing.claim_key === own_key) return null;
  // What has bought already is calldata, and names are guessed: it speaks for what it was made for, and for nothing else.
  const own = await claimByKey(till.database, own_key);
  if (own && own.state !== 'released') return null;
  // A key's signature proves its payer by itself, a wallet's only where its code says so.
  const proof = await railOf(till, payment.authorization.network).proveUsed(payment);
  if (proof.kind !== 'proven') throw hearsOf(till, paid, proof);
  const { kind, claim_key } = standing;
  await requireNoGuessOf(till, { claim_key, is_asked: kind !== 'foreign' }, presented, context);
  switch (kind) {
    case 'replayed':
      return { kind: 'bought', presented, bought: standing };
    case 'foreign':
      throw new Refusal(named.by ? 'idempotency_key_conflict' : 'payment_identifier_conflict', {
        facts: { charged: false },
      });
    case 'in_flight':
      throw nameInFlight(named.by ?? 'payment_identifier', { task_id: standing.task_id });
    case 'pending':
      throw refusedClaim(standing, paid);
  }
}
