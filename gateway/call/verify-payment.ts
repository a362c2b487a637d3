import { type JsonObject } from '../../schema/canonical-json.ts';
import { type Context } from '../../subgraphs/context.ts';
import { claimByKey } from '../../subgraphs/receipt/claim/transitions.ts';
import { requestedCall } from '../../subgraphs/requested-call.ts';
import { type AnyPaid, validity_seconds_min } from '../../subgraphs/sale.ts';
import { claimKey, provesItsPayer } from '../rails/payment.ts';
import { type Rail, railOf } from '../rails/rail.ts';
import { verifyPayment } from '../rails/verify.ts';
import { type PayTo } from '../x402/offer.ts';
import { delegationBeside } from './grants.ts';
import { type CallParts } from './parts.ts';
import { boundRequest, namesOf } from './request.ts';
import { type Authorized, type Presented } from './states.ts';

type VerifyParts = Pick<
  CallParts,
  'database' | 'rails' | 'pay_to' | 'clock' | 'marksOf' | 'failures' | 'respond' | 'base_urls' | 'wallets'
>;

/**
 * Checks what came with the call before anything is claimed: the payment itself, then the wallet's code on the chain if the signature does
 * not prove the payer, then the payer's recent failures.
 * @throws payment_required, payment_rejected (each with the offer), invalid_request, delegation_invalid, rate_limited, unavailable,
 * chain_unavailable
 */
export async function verifyCall(
  parts: VerifyParts,
  paid: AnyPaid,
  args: JsonObject,
  context: Context,
): Promise<Presented> {
  const { identifier, ...payment } = await authorized(parts, paid, context);
  const { network, payer: wallet } = payment.authorization;
  const rail = railOf(parts, network);
  // If the gate has asked the wallet's code already, its result is reused.
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
}

async function authorized(
  { rails, pay_to, clock, respond }: VerifyParts,
  paid: AnyPaid,
  { payment, principal }: Context,
): Promise<Authorized & Pick<Presented, 'identifier'>> {
  if (payment === null) throw respond({ kind: 'unpaid', paid, unknown_key: principal.api_key.kind === 'unknown' });
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
      throw respond({ kind: 'rejected', paid, reason: verified.reason });
    case 'late': {
      const { code, reason, ...signed } = verified;
      return { ...signed, ...unnamed, x402_version, late: { code, reason } };
    }
    case 'verified':
      return { ...verified, ...unnamed, x402_version, late: null };
  }
}

/** The payees of a sale. Of all its terms, only the payee may be another party than this service. */
export function payeesOf({ pay_to, networks }: Pick<AnyPaid, 'pay_to' | 'networks'>, ours: PayTo): PayTo {
  if (pay_to === undefined) return ours;
  return { ...ours, ...Object.fromEntries(networks.map(network => [network, pay_to])) };
}

async function requireProven(
  { respond }: Pick<VerifyParts, 'respond'>,
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
      throw respond({ kind: 'rejected', paid, reason: proof.reason });
    case 'no_turn':
      throw respond({ kind: 'no_turn', retry_after_seconds: proof.retry_after_seconds });
    case 'unreachable':
      throw respond({ kind: 'chain_unreachable' }, proof.cause);
  }
}

/** Refuses a payer who must wait. The payment stays usable, and former purchases are delivered. */
async function requireRested(
  { database, failures, respond }: VerifyParts,
  { payer, claim_key, address_mark, router_key_mark, delegation }: Presented,
  context: Context,
): Promise<void> {
  const rest = failures.rest(payer.wallet, address_mark, router_key_mark !== null || delegation !== null);
  if (rest === null) return;
  const claim = await claimByKey(database, claim_key);
  if (claim !== null && claim.state !== 'released') return;
  Object.assign(context.response.headers, rest.headers);
  throw respond({ kind: 'resting', seconds: rest.seconds });
}
