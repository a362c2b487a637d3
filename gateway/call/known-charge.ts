import { Refusal, withCharged } from '../../schema/errors.ts';
import { type PresentedPayment } from '../../subgraphs/context.ts';
import { DatabaseAway } from '../../subgraphs/outage.ts';
import { type PaymentClaim } from '../../subgraphs/receipt/claim/claim.entity.ts';
import { isCharged } from '../../subgraphs/receipt/claim/settlement-status.ts';
import { claimByKey } from '../../subgraphs/receipt/claim/transitions.ts';
import { isStored } from '../rails/base/signature.ts';
import { paymentNameIn } from '../rails/named-payment.ts';
import { paymentFromJson } from '../rails/payment.ts';
import { verifyPayment } from '../rails/verify.ts';
import { type HaltedLog } from './ground.ts';
import { type CallParts } from './parts.ts';
import { type CallOutcome } from './respond.ts';
import { payeesOf } from './verify-payment.ts';

/* What the database shows of a payment, for refusals that were made before the payment was looked up. */

interface KnownPayment {
  /** Null if there is no claim, or the payment is not signed by its payer. */
  readonly claim: PaymentClaim | null;
  /** Null while unknown. */
  readonly charged: boolean | null;
}

type KnownParts = IsSignedParts & HaltedLog & Pick<CallParts, 'database' | 'respond'>;

export async function knownPayment(parts: KnownParts, payment: PresentedPayment): Promise<KnownPayment> {
  const { database, log } = parts;
  const named = paymentNameIn(payment);
  const claim = named && (await claimByKey(database, named.claim_key));
  // While the log is halted the database may have lost a claim or its outcome.
  const unmoved = log.halt ? null : false;
  if (claim === null) return { claim, charged: unmoved };
  if (!(await isSigned(parts, claim, payment))) return { claim: null, charged: false };
  return { claim, charged: isCharged(claim) === false ? unmoved : isCharged(claim) };
}

/**
 * Replaces `charged: false` in a refusal that was made before the payment was looked up, by the state of the payment. The payment may be in
 * progress in another process, or have bought something: then the caller is not asked for another one.
 */
export async function withKnownCharge<E>(
  parts: KnownParts,
  refusal: E,
  payment: PresentedPayment | null,
): Promise<E | Refusal> {
  if (!(refusal instanceof Refusal) || refusal.extensions.charged !== false || payment === null) return refusal;
  // If the database became unreachable during the claim, that call has looked up the payment since, and its own claim was not sent.
  if (refusal.originalError instanceof DatabaseAway) return refusal;
  // If the database does not answer, the state is unknown.
  const known = await knownPayment(parts, payment).catch(() => ({ claim: null, charged: null }));
  if (known.charged === false) return refusal;
  const standing = refusal.status === 402 ? outcomeOf(known) : null;
  return standing === null ? withCharged(refusal, known.charged) : parts.respond(standing, refusal);
}

/**
 * The outcome that replaces an offer, because a 402 makes its reader sign another payment. Null if the offer may stay. It does not reveal
 * for which request the payment was made, because the payment may be public.
 */
function outcomeOf({ claim, charged }: KnownPayment): CallOutcome | null {
  if (claim === null) return charged === null ? { kind: 'unknown_here' } : null;
  switch (claim.state) {
    case 'claimed':
    case 'settling':
      return { kind: 'unknown_here' };
    case 'held':
    case 'recorded':
      return { kind: 'foreign', settled: true };
    case 'released':
      return charged === null ? { kind: 'unknown_here' } : null;
  }
}

type IsSignedParts = Pick<CallParts, 'rails' | 'pay_to' | 'clock'>;

/**
 * Whether the payment came with its payer's signature. It is judged by the terms of its claim, whatever is requested now. A signature that
 * only code can judge must equal the claimed one.
 */
async function isSigned(
  parts: IsSignedParts,
  { authorization }: PaymentClaim,
  shown: PresentedPayment,
): Promise<boolean> {
  const { network, pay_to, amount_atomic } = paymentFromJson(authorization).authorization;
  const asked = {
    networks: [network],
    pay_to: payeesOf({ pay_to, networks: [network] }, parts.pay_to),
    amount_atomic,
  };
  const offered = { ...asked, validity_seconds_min: 0, now_ms: parts.clock.now_ms() };
  const judged = await verifyPayment(shown, offered, parts.rails);
  if (judged.kind === 'refused') return false;
  return judged.signature.kind !== 'contract' || isStored(authorization.signature, judged.signature);
}
