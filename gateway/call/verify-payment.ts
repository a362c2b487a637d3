import type { JsonObject } from '../../schema/canonical-json.ts';
import type { ShownDelegation } from '../../schema/session/delegation-header.ts';
import type { Clock } from '../../subgraphs/clock.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Database } from '../../subgraphs/database.ts';
import type { NamedPayment } from '../../subgraphs/receipt/claim/identifier.ts';
import { claimByKey } from '../../subgraphs/receipt/claim/transitions.ts';
import { requestedCall } from '../../subgraphs/requested-call.ts';
import { type AnyPaid, type Payer, validity_seconds_min } from '../../subgraphs/sale.ts';
import { type DelegationReads } from '../../subgraphs/session/delegation/resolve-delegation.ts';
import { claimKey, type Payment, provesItsPayer } from '../rails/payment.ts';
import { type Rail, type Rails, railOf } from '../rails/rail.ts';
import { type TermsMismatch, verifyPayment } from '../rails/verify.ts';
import type { PayTo } from '../x402/offer.ts';
import type { Failures } from './failures.ts';
import type { ClaimedUnder } from './grants.ts';
import { delegationBeside } from './grants.ts';
import { type Asked, boundRequest, type MarksOf, namesOf } from './request.ts';
import type { Hears } from './respond.ts';

/** A payment that passed our own checks. A signature that is not a key's proves nothing yet: code must be asked. */
export type Authorized<P extends Payment = Payment> = P & {
  readonly x402_version: 1 | 2;
  /** Why it can no longer be settled, with x402's code; a former purchase is owed all the same. */
  readonly late: { readonly code: TermsMismatch; readonly reason: string } | null;
};

/** A paid request whose payment was found valid, before any process holds it. */
export interface Presented<P extends Payment = Payment> extends Asked {
  readonly payment: Authorized<P>;
  readonly payer: Payer;
  /** Identifies the payment. */
  readonly claim_key: string;
  /** The network of the payment, which is asked about it and sends it. */
  readonly rail: Rail;
  readonly request_hash: string;
  /** The previous version claimed it: args and hash are of the request as that version understood it. */
  readonly is_former: boolean;
  /** The grant that came with it; null without one. */
  readonly delegation: ShownDelegation | null;
  /** The result of admitting the grant. */
  readonly under?: ClaimedUnder | null;
  /** The payer's name for this purchase; none for a stamp, whose effect exists once anyway. */
  readonly identifier: string | null;
  /** Names of the purchase: the payer's identifier, the API key's, both or neither. */
  readonly names: readonly NamedPayment[];
  /** The caller has proven to be the payer, by more than the payment's calldata. */
  readonly is_payers?: boolean;
}

export interface VerifyParts extends DelegationReads {
  readonly database: Database;
  readonly rails: Rails;
  readonly pay_to: PayTo;
  readonly clock: Clock;
  readonly marksOf: MarksOf;
  readonly failures: Failures;
  readonly hears: Hears;
}

export type Verify = (paid: AnyPaid, args: JsonObject, context: Context) => Promise<Presented>;

/**
 * Judges what came with the call before anything is claimed: the payment by itself, then by code on the chain if its signature
 * does not prove the payer, then by the payer's recent failures. @throws payment_required, payment_rejected (each with the
 * offer), invalid_request, delegation_invalid, rate_limited, unavailable, chain_unavailable
 */
export function openVerify(parts: VerifyParts): Verify {
  return async (paid, args, context) => {
    const { identifier, ...payment } = await authorized(parts, paid, context);
    const { network, payer: wallet } = payment.authorization;
    const rail = railOf(parts, network);
    // If the gate has asked already, nobody is asked again.
    if (!provesItsPayer(payment)) await requireProven(parts, paid, rail, payment, context.principal.address);
    const delegation = await delegationBeside(parts, context, network);
    const asked = requestedCall(paid, args);
    const marks = parts.marksOf(asked.model, context);
    const claim_key = claimKey(payment.authorization);
    const names = namesOf(paid, payment, identifier, marks.idempotency_mark);
    const bound = await boundRequest(parts.database, { paid, args, delegation, claim_key, names });
    const presented: Presented = {
      paid,
      ...bound,
      call: bound.is_former ? requestedCall(paid, bound.args) : asked,
      payment,
      rail,
      identifier,
      ...marks,
      payer: { network, wallet },
      claim_key,
      delegation,
      names,
    };
    await requireRested(parts, presented, context);
    return presented;
  };
}

async function authorized(
  { rails, pay_to, clock, hears }: VerifyParts,
  paid: AnyPaid,
  { payment, principal }: Context,
): Promise<Authorized & Pick<Presented, 'identifier'>> {
  if (payment === null) throw hears({ kind: 'unpaid', paid, unknown_key: principal.api_key.kind === 'unknown' });
  const { x402_version } = payment;
  const { price_atomic: amount_atomic, networks, order, validity_seconds_max } = paid;
  if (amount_atomic === null) throw new Error(`${paid.field} is charged for and has no price`);
  const offered = {
    amount_atomic,
    networks,
    pay_to: payeesOf(paid, pay_to),
    now_ms: clock.now_ms(),
    validity_seconds_max,
    validity_seconds_min: validity_seconds_min[order],
  };
  const verified = await verifyPayment(payment, offered, rails);
  const unnamed = order === 'stamp' || order === 'leg' ? { identifier: null } : {};
  switch (verified.kind) {
    case 'refused':
      throw hears({ kind: 'rejected', paid, reason: verified.reason });
    case 'late': {
      const { code, reason, ...signed } = verified;
      return { ...signed, ...unnamed, x402_version, late: { code, reason } };
    }
    case 'verified':
      return { ...verified, ...unnamed, x402_version, late: null };
  }
}

/** Of all terms only the payee may be someone else's. */
export function payeesOf({ pay_to, networks }: Pick<AnyPaid, 'pay_to' | 'networks'>, ours: PayTo): PayTo {
  if (pay_to === undefined) return ours;
  return { ...ours, ...Object.fromEntries(networks.map(network => [network, pay_to])) };
}

async function requireProven(
  { hears }: Pick<VerifyParts, 'hears'>,
  paid: AnyPaid,
  rail: Rail,
  payment: Authorized,
  address: string,
): Promise<void> {
  const proof = await rail.prove(payment, address);
  switch (proof.kind) {
    case 'proven':
      return;
    case 'rejected':
      throw hears({ kind: 'rejected', paid, reason: proof.reason });
    case 'no_turn':
      throw hears({ kind: 'no_turn', retry_after_seconds: proof.retry_after_seconds });
    case 'unreachable':
      throw hears({ kind: 'chain_unreachable' }, proof.cause);
  }
}

/** The payment of a payer who must wait stays usable, and former purchases are delivered. */
async function requireRested(
  { database, failures, hears }: VerifyParts,
  { payer, claim_key, address_mark, router_key_mark, delegation }: Presented,
  context: Context,
): Promise<void> {
  const rest = failures.rest(payer.wallet, address_mark, router_key_mark !== null || delegation !== null);
  if (rest === null) return;
  const claim = await claimByKey(database, claim_key);
  if (claim !== null && claim.state !== 'released') return;
  Object.assign(context.response.headers, rest.headers);
  throw hears({ kind: 'resting', seconds: rest.seconds });
}
