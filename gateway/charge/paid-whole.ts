import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';
import { taskId } from '../../schema/ids.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Charge, Charged } from '../../subgraphs/sale.ts';
import type { AnyPaid, AnyWhole } from '../record/recorder.ts';
import { admission } from './admission.ts';
import { authorized } from './authorized.ts';
import { type Bought, redeliver } from './bought-whole.ts';
import { boughtOnce } from './buy-once.ts';
import { idempotencyMark, identifierOf } from './call-names.ts';
import { type Claimed, type Presented, refusedClaim, routerKeyMark } from './claim-request.ts';
import { workUntil } from './deadline.ts';
import { unlessGuessed } from './guesses.ts';
import { announce } from './payment-response.ts';
import { requireProven } from './proof.ts';
import { refusedByBook, refusedOnceMore } from './refused-by-book.ts';
import { requireRested } from './require-rested.ts';
import { abandon, adoptTransfer, moved, recordClaim, type Standing, settleClaim } from './settle-claim.ts';
import { transferElsewhere } from './spent-elsewhere.ts';
import { takeClaim } from './take-claim.ts';
import type { Till } from './till.ts';
import { withTransaction } from './transaction-sent.ts';
import { chargeByKey, waiverOf } from './waived.ts';

/**
 * The story of one paid call. Every road that a payment can take begins on this page.
 * verify → admit → claim and reserve → work → settle → record: in this order a payment is charged at most once, an
 * answer that was charged is never lost, and nothing is charged for what did not come. How an answer that is streamed
 * goes out in the midst of it is the story of stream.ts; by-key.ts tells of the call that a key stands in for.
 */
export function openCharge(till: Till): Charge {
  const charge = async (paid: AnyWhole, args: JsonObject, context: Context): Promise<Charged<JsonObject>> => {
    const waiver = waiverOf(paid, context);
    if (waiver) return chargeByKey(till, paid, args, waiver, context);
    return chargePayment(till, paid, args, context).catch(async error => {
      throw await withTransaction(till, context, error);
    });
  };
  // The till sells whatever is declared; each caller gets back the type of what it declared.
  return charge as unknown as Charge;
}

async function chargePayment(
  till: Till,
  paid: AnyWhole,
  args: JsonObject,
  context: Context,
): Promise<Charged<JsonObject>> {
  const entered = await enter(till, paid, args, context);
  if (entered.kind === 'claimed') return carryThrough(till, paid, entered, context);
  context.response.stopwatch.begin('replay');
  return redeliver(till, paid, entered, context);
}

/** A paid request past the door: held under a claim of its own, or bought by the same payment before. */
export type Entered =
  /** `spent`: the payment is used already, by whomever; whether for us is still to be found out. */
  | { readonly kind: 'claimed'; readonly claimed: Claimed; readonly spent: boolean }
  | { readonly kind: 'bought'; readonly presented: Presented; readonly bought: Bought };

export async function enter(till: Till, paid: AnyPaid, args: JsonObject, context: Context): Promise<Entered> {
  const { stopwatch } = context.response;
  stopwatch.begin('verify');
  const payment = await authorized(till, paid, context);
  // Where the door has asked already, nobody is asked again.
  await requireProven(till, { paid, payment }, context.principal.address);
  const request_hash = canonicalHash({ field: paid.field, args });
  const identifier = identifierOf(paid, context.payment);
  const router_key_mark = routerKeyMark(till, paid, args, context);
  const idempotency_mark = idempotencyMark(till, context);
  const shown = { paid, args, payment, request_hash, identifier, idempotency_mark, router_key_mark };
  await requireRested(till, shown, context);
  const entering = (is_payers: boolean) =>
    boughtOnce(till, shown, context, () => claim(till, { ...shown, is_payers }, context));
  return unlessGuessed(till, shown, context, entering);
}

async function claim(till: Till, shown: Presented, context: Context): Promise<Entered> {
  const { paid } = shown;
  const { stopwatch } = context.response;
  const admitted = await admission(till, shown, context);
  if (admitted.kind === 'replayed') return { kind: 'bought', presented: shown, bought: admitted };
  if (admitted.kind === 'blocked') throw await refusedByBook(till, admitted.refusal_id, context);

  stopwatch.begin('claim');
  const task_id = taskId(till.clock.now_ms(), till.random.bytes(10));
  const { presented, spent, means } = admitted;
  const { claim, outcome } = await takeClaim(till, { ...presented, task_id, means }, spent, context);
  if (outcome.kind === 'replayed') return { kind: 'bought', presented, bought: outcome };
  if (outcome.kind === 'blocked') throw await refusedByBook(till, outcome.refusal_id, context);
  if (outcome.kind === 'blocked_too_often') throw refusedOnceMore(till, outcome, context);
  if (outcome.kind !== 'claimed') throw refusedClaim(outcome, paid);

  return { kind: 'claimed', claimed: { ...presented, claim, lease: outcome.lease, task_id }, spent };
}

async function carryThrough(
  till: Till,
  paid: AnyWhole,
  { claimed, spent }: Extract<Entered, { kind: 'claimed' }>,
  context: Context,
): Promise<Charged<JsonObject>> {
  const { args, task_id, payment } = claimed;
  const { stopwatch } = context.response;
  let standing: Standing = 'nothing_moved';
  try {
    await till.faults.reach('after_claim');
    const elsewhere = spent ? await transferElsewhere(till, claimed) : null;
    if (elsewhere) {
      standing = 'moved';
      await adoptTransfer(till, claimed, elsewhere);
    }
    stopwatch.begin('work');
    const until_ms = workUntil(till.clock.now_ms(), elsewhere ? null : payment.authorization);
    const work = paid.order === 'work_then_settle' ? await paid.work(args, task_id, context, until_ms) : null;
    await till.faults.reach('after_work');

    stopwatch.begin('settle');
    if (!elsewhere) standing = 'may_have_moved';
    const settlement = elsewhere ? moved(elsewhere) : await settleClaim(till, claimed, work);
    standing = settlement.standing;
    if (settlement.kind === 'refused') throw settlement.refusal;

    stopwatch.begin('record');
    const charged = await recordClaim(till, claimed, work, settlement.transfer);
    const transaction = settlement.transfer.tx_hash;
    await announce(till, context, { payment, task_id, transaction, landing: claimed.claim.landing });
    return charged;
  } catch (error) {
    throw await abandon(till, claimed, standing, error);
  }
}
