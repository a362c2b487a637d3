import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';
import type { Clock } from '../../subgraphs/clock.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Database } from '../../subgraphs/database.ts';
import { claimByKey } from '../../subgraphs/receipt/claim/transitions.ts';
import { type AnyPaid, orders } from '../../subgraphs/sale.ts';
import { claimKey } from '../rails/payment.ts';
import { type Rails, railOf } from '../rails/rail.ts';
import { verifyPayment } from '../rails/verify.ts';
import type { PayTo } from '../x402/offer.ts';
import type { Hears } from './answer-by-outcome.ts';
import { identifierOf, type Marks } from './call-names.ts';
import type { Authorized, Presented } from './claim-request.ts';
import type { Failures } from './failures.ts';

export interface VerifyParts {
  readonly database: Database;
  readonly rails: Rails;
  readonly pay_to: PayTo;
  readonly clock: Clock;
  readonly marks: Marks;
  readonly failures: Failures;
  readonly hears: Hears;
}

export type Verify = (paid: AnyPaid, args: JsonObject, context: Context) => Promise<Presented>;

/**
 * What came with the call, judged before anything is claimed: by itself, then by code on the chain where its signature
 * alone does not say whose it is, then by what its payer has done of late.
 * @throws payment_required, payment_rejected (each with the offer), invalid_request, rate_limited, unavailable, chain_unavailable
 */
export function openVerify(parts: VerifyParts): Verify {
  return async (paid, args, context) => {
    const payment = await authorized(parts, paid, context);
    // Where the door has asked already, nobody is asked again.
    await requireProven(parts, paid, payment, context.principal.address);
    const presented = {
      paid,
      args,
      payment,
      request_hash: canonicalHash({ field: paid.field, args }),
      identifier: identifierOf(paid, context.payment),
      router_key_mark: parts.marks.routerKey(paid, args, context),
      idempotency_mark: parts.marks.idempotencyKey(context),
    };
    await requireRested(parts, presented, context);
    return presented;
  };
}

async function authorized(
  { rails, pay_to, clock, hears }: VerifyParts,
  paid: AnyPaid,
  { payment, principal }: Context,
): Promise<Authorized> {
  if (payment === null) throw hears({ kind: 'unpaid', paid, unknown_key: principal.api_key.kind === 'unknown' });
  const { x402_version } = payment;
  const { price_atomic: amount_atomic, networks, order } = paid;
  const { validity_seconds_min } = orders[order];
  const offered = { amount_atomic, networks, pay_to, validity_seconds_min, now_ms: clock.now_ms() };
  const verified = await verifyPayment(payment, offered, rails);
  switch (verified.kind) {
    case 'refused':
      throw hears({ kind: 'rejected', paid, reason: verified.reason });
    case 'late': {
      const { code, reason, ...signed } = verified;
      return { ...signed, x402_version, late: { code, reason } };
    }
    case 'verified':
      return { ...verified, x402_version, late: null };
  }
}

async function requireProven(
  { rails, hears }: VerifyParts,
  paid: AnyPaid,
  payment: Authorized,
  address: string,
): Promise<void> {
  const proof = await railOf({ rails }, payment.authorization.network).prove(payment, address);
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

/** The payment of a payer who is to rest stays usable; what it has bought already, or may have, is theirs all the same. */
async function requireRested(
  { database, marks, failures, hears }: VerifyParts,
  { payment: { authorization }, router_key_mark }: Presented,
  context: Context,
): Promise<void> {
  const rest = failures.rest(authorization.payer, marks.address(context), router_key_mark !== null);
  if (rest === null) return;
  const claim = await claimByKey(database, claimKey(authorization));
  if (claim !== null && claim.state !== 'released') return;
  Object.assign(context.response.headers, rest.headers);
  throw hears({ kind: 'resting', seconds: rest.seconds });
}
