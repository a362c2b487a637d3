import { type JsonObject } from '../../schema/canonical-json.ts';
import { type ErrorCode, Refusal } from '../../schema/errors.ts';
import { type TaskId } from '../../schema/ids.ts';
import { foreignRef, type ObservedTransfer } from '../../schema/observed-transfer.ts';
import { type ChargedAnswer } from '../../subgraphs/charge-port.ts';
import { type Context } from '../../subgraphs/context.ts';
import { type PaymentClaim } from '../../subgraphs/receipt/claim/claim.entity.ts';
import { claimOfSlot } from '../../subgraphs/receipt/claim/held-leg.ts';
import { type AnyPaid, type Leg, type Stamp } from '../../subgraphs/sale.ts';
import { paymentNameIn } from '../rails/named-payment.ts';
import { delegationPathOf } from './grants.ts';
import { type HeldLeg, lookAtFirst } from './held-leg.ts';
import { knownPayment, withKnownCharge } from './known-charge.ts';
import { type CallParts } from './parts.ts';
import { paidRequestHash } from './request.ts';
import { announce } from './response-headers.ts';

/** Two payments for one call, in the form in which a subgraph declares them. */
export interface AnyLegs {
  readonly slot: string;
  readonly first: Leg<JsonObject>;
  readonly second: Stamp<JsonObject, JsonObject>;
  readonly brought: JsonObject | null;
  readonly brought_already: ErrorCode;
  readonly refused: Refusal | null;
}

type LegParts = Pick<
  CallParts,
  'database' | 'rails' | 'pay_to' | 'clock' | 'log' | 'queues' | 'issuer' | 'base_url' | 'respond'
>;

/** The two purchases of one call. */
interface LegSales {
  /** Sells the first payment, which is held once it has moved. Returns its reference. */
  first(paid: Leg<JsonObject>, args: JsonObject, context: Context): Promise<string>;
  /** Sells the second payment. Both are recorded with it. */
  second(paid: Stamp<JsonObject, JsonObject>, args: JsonObject, context: Context): Promise<ChargedAnswer<JsonObject>>;
}

/**
 * Sells a call for two payments: each request asks for the payment that is still missing. The first payment goes to somebody else. Once it
 * has moved it is held, and later requests ask for the second payment, with which both are recorded. While a payment may still move, no
 * other one is asked for or accepted, even if the first payment's payee submitted it.
 */
export async function sellInTwo(
  parts: LegParts,
  sales: LegSales,
  legs: AnyLegs,
  args: JsonObject,
  context: Context,
): Promise<ChargedAnswer<JsonObject>> {
  const { database, respond } = parts;
  const { slot, first, second, brought, refused } = legs;
  if (refused !== null) throw await withKnownCharge(parts, refused, context.payment);
  if (brought !== null) return sendAgain(parts, { ...legs, brought }, args, context);
  const shown_key = (context.payment && paymentNameIn(context.payment)?.claim_key) ?? null;
  const standing = await claimOfSlot(database, slot);
  const is_shown = standing !== null && standing.claimKey === shown_key;
  if (standing?.state === 'held') {
    const under_way = await claimOfSlot(database, first.second_slot(args));
    if (under_way !== null && under_way.claimKey !== shown_key) throw respond({ kind: 'slot_taken', paid: second });
    if (under_way === null) await requireStanding(parts, { paid: first, args, claim: standing }, second);
    if (!is_shown) return sales.second({ ...second, held_under: delegationPathOf(standing.landing) }, args, context);
    throw secondDue(parts, second, standing, context);
  }
  if (standing !== null && !is_shown) throw respond({ kind: 'slot_taken', paid: first });
  const payment_ref = await sales.first(first, args, context);
  throw respond({ kind: 'second_due', paid: second, payment_ref });
}

/**
 * Requires that the first payment is still where it is held, before the second is asked for or accepted: a reorganisation may have removed
 * it. While that is unknown, the caller is not asked to pay.
 */
async function requireStanding(
  parts: LegParts,
  first: HeldLeg & { readonly claim: PaymentClaim },
  second: AnyPaid,
): Promise<void> {
  const { respond } = parts;
  const standing = await lookAtFirst(parts, first);
  if (standing === 'unknown') throw respond({ kind: 'unknown_here' });
  if (standing === 'changing') throw respond({ kind: 'slot_taken', paid: second });
}

/** The response to the first payment when it is sent again: it is held, and the offer for the second one is repeated. */
function secondDue(parts: LegParts, second: Stamp<JsonObject, JsonObject>, standing: PaymentClaim, context: Context) {
  const { network, payer, taskId: task_id, landing, heldTransfer } = standing;
  const { transaction, index: transfer_index } = heldTransfer as ObservedTransfer;
  const x402_version = context.payment?.x402_version ?? 2;
  announce(parts, context, {
    payment: { x402_version, authorization: { network, payer } },
    task_id,
    transaction,
    transfer_index,
    landing,
  });
  return parts.respond({ kind: 'second_due', paid: second, payment_ref: foreignRef({ network, transaction }) });
}

/**
 * Answers a call whose two payments are recorded. No other payment is accepted for it. A payment that only has the same public nonce,
 * without the payer's signature, is not accepted either, and no replay is counted for it. A payment that was charged for another request,
 * or for this one with another body, gets that fact as the response. For a payment in progress, the response states that its outcome is
 * unknown.
 */
async function sendAgain(
  parts: LegParts,
  { first, second, brought, brought_already }: AnyLegs & { readonly brought: JsonObject },
  args: JsonObject,
  { payment }: Context,
): Promise<ChargedAnswer<JsonObject>> {
  const task_id = brought.task_id as TaskId;
  if (payment !== null && paymentNameIn(payment) !== null) {
    const { claim, charged } = await knownPayment(parts, payment);
    const under = claim && (delegationPathOf(claim.landing).at(-1) ?? null);
    const hashes = [first, second].map(({ field }) => paidRequestHash(field, args, under));
    if (claim?.state !== 'recorded' || !hashes.includes(claim.requestHash))
      throw new Refusal(brought_already, { facts: { charged } });
    await parts.queues.replay.submit(claim.taskId);
  }
  return { answer: brought, task_id, settlement_status: 'idempotent_replay', receipt: { taskId: task_id } };
}
