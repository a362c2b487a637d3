import type { JsonObject } from '../../schema/canonical-json.ts';
import { type ErrorCode, Refusal } from '../../schema/errors.ts';
import type { TaskId } from '../../schema/ids.ts';
import { foreignRef, type ObservedTransfer } from '../../schema/observed-transfer.ts';
import type { ChargedAnswer } from '../../subgraphs/charge-port.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Database } from '../../subgraphs/database.ts';
import type { PaymentClaim } from '../../subgraphs/receipt/claim/claim.entity.ts';
import { claimOfSlot } from '../../subgraphs/receipt/claim/held-leg.ts';
import type { AnyPaid, AnyWhole, Leg, Stamp } from '../../subgraphs/sale.ts';
import type { Faults } from '../operations/faults.ts';
import { paymentNameIn } from '../rails/named-payment.ts';
import { delegationPathOf } from './grants.ts';
import type { KeptLeg, LookAtFirst } from './held-leg.ts';
import type { KnownCharge } from './known-charge.ts';
import type { Entered, HeldByPayment } from './paid.ts';
import { paidRequestHash } from './request.ts';
import type { Hears } from './respond.ts';
import type { Announce } from './response-headers.ts';

/** Two payments for one thing, as a subgraph declares them. */
export interface AnyLegs {
  readonly slot: string;
  readonly first: Leg<JsonObject>;
  readonly second: Stamp<JsonObject, JsonObject>;
  readonly brought: JsonObject | null;
  readonly brought_already: ErrorCode;
  readonly refused: Refusal | null;
}

export interface LegParts {
  readonly database: Database;
  readonly enter: (paid: AnyPaid, args: JsonObject, context: Context) => Promise<Entered>;
  readonly hold: (entered: Extract<Entered, { kind: 'claimed' }>, context: Context) => Promise<HeldByPayment>;
  readonly whole: (paid: AnyWhole, args: JsonObject, context: Context) => Promise<ChargedAnswer<JsonObject>>;
  /** Whether the held payment is still where the chain has it. */
  readonly lookAtFirst: LookAtFirst;
  readonly known: KnownCharge;
  /** A recorded payment was shown again. */
  readonly replay: (task_id: TaskId) => Promise<unknown>;
  readonly announce: Announce;
  readonly faults: Faults | null;
  readonly hears: Hears;
}

/**
 * Two payments for one call: each request asks for the one that is still missing. The first goes to someone else; once it has
 * moved it is held, and later requests are about the second, which records both. While either may still move, also submitted by
 * the first's payee, no other is asked for or accepted.
 */
export function openLegs(parts: LegParts) {
  const { database, hears, whole } = parts;
  return async (legs: AnyLegs, args: JsonObject, context: Context): Promise<ChargedAnswer<JsonObject>> => {
    const { slot, first, second, brought, refused } = legs;
    if (refused !== null) throw await parts.known.beside(refused, context.payment);
    if (brought !== null) return again(parts, { ...legs, brought }, args, context);
    const shown_key = (context.payment && paymentNameIn(context.payment)?.claim_key) ?? null;
    const standing = await claimOfSlot(database, slot);
    const is_shown = standing !== null && standing.claimKey === shown_key;
    if (standing?.state === 'held') {
      const under_way = await claimOfSlot(database, first.second_slot(args));
      if (under_way !== null && under_way.claimKey !== shown_key) throw hears({ kind: 'slot_taken', paid: second });
      if (under_way === null) await requireStanding(parts, { paid: first, args, claim: standing }, second);
      if (!is_shown) return whole({ ...second, held_under: delegationPathOf(standing.landing) }, args, context);
      throw secondDue(parts, second, standing, context);
    }
    if (standing !== null && !is_shown) throw hears({ kind: 'slot_taken', paid: first });
    const payment_ref = await moveFirst(parts, first, args, context);
    throw hears({ kind: 'second_due', paid: second, payment_ref });
  };
}

/**
 * Verify, claim and reserve, settle, as for any payment; then it is held, and its client is told so with what is still to be
 * paid.
 */
async function moveFirst(
  { enter, hold, faults, hears }: LegParts,
  first: Leg<JsonObject>,
  args: JsonObject,
  context: Context,
): Promise<string> {
  const entered = await enter(first, args, context);
  // It was recorded with its sibling just now; the next request gets the answer.
  if (entered.kind === 'bought') throw hears({ kind: 'unknown_here' });
  const held = await hold(entered, context);
  try {
    const settled = await held.settle(null);
    await faults?.reach('before_hold');
    await held.keep();
    settled.announce();
    return settled.payment_ref ?? '';
  } catch (error) {
    throw await held.abandon(error);
  }
}

/**
 * Before the second is asked for or accepted: a reorganisation may have removed the first. Nobody is asked to pay while that is
 * unknown.
 */
async function requireStanding(
  { lookAtFirst, hears }: LegParts,
  first: KeptLeg & { readonly claim: PaymentClaim },
  second: AnyPaid,
): Promise<void> {
  const standing = await lookAtFirst(first);
  if (standing === 'unknown') throw hears({ kind: 'unknown_here' });
  if (standing === 'changing') throw hears({ kind: 'slot_taken', paid: second });
}

/** The first payment again: it is held, and what is still to be paid is repeated. */
function secondDue(
  { announce, hears }: LegParts,
  second: Stamp<JsonObject, JsonObject>,
  standing: PaymentClaim,
  context: Context,
) {
  const { network, payer, taskId: task_id, landing, heldTransfer } = standing;
  const { transaction, index: transfer_index } = heldTransfer as ObservedTransfer;
  const x402_version = context.payment?.x402_version ?? 2;
  announce(context, {
    payment: { x402_version, authorization: { network, payer } },
    task_id,
    transaction,
    transfer_index,
    landing,
  });
  return hears({ kind: 'second_due', paid: second, payment_ref: foreignRef({ network, transaction }) });
}

/**
 * Both are recorded. No other payment is accepted or taken for one of them; nor is one that only has the same public nonce
 * without the payer's signature, and no replay of it is counted. One that was charged for another request, also for this one with
 * another body, gets that response; one in progress for it gets that its outcome is unknown.
 */
async function again(
  { known, replay }: LegParts,
  { first, second, brought, brought_already }: AnyLegs & { readonly brought: JsonObject },
  args: JsonObject,
  { payment }: Context,
): Promise<ChargedAnswer<JsonObject>> {
  const task_id = brought.task_id as TaskId;
  if (payment !== null && paymentNameIn(payment) !== null) {
    const { claim, charged } = await known.of(payment);
    const under = claim && (delegationPathOf(claim.landing).at(-1) ?? null);
    const hashes = [first, second].map(({ field }) => paidRequestHash(field, args, under));
    if (claim?.state !== 'recorded' || !hashes.includes(claim.requestHash))
      throw new Refusal(brought_already, { facts: { charged } });
    await replay(claim.taskId);
  }
  return { answer: brought, task_id, settlement_status: 'idempotent_replay', receipt: { taskId: task_id } };
}
