import { holderOf } from '../../schema/address-holder.ts';
import { type JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import { verifyUrl } from '../../schema/links.ts';
import { isBookStopped } from '../../subgraphs/book/policy/kill-switch.ts';
import { type ChargedAnswer, type ChargedStream } from '../../subgraphs/charge-port.ts';
import { type Context } from '../../subgraphs/context.ts';
import { newTask } from '../../subgraphs/new-task.ts';
import { type Piece } from '../../subgraphs/piece.ts';
import { type AnyPaid, type AnyStream, type AnyWhole, type Leg } from '../../subgraphs/sale.ts';
import { type RecordableOutcome } from '../rails/outcome.ts';
import { admitPayment } from './admission.ts';
import { holdByKey, waiverOf } from './by-key.ts';
import { outcomeOfClaim, takeClaim } from './claim/take.ts';
import { drivenBy, type StreamDriver } from './drive-stream.ts';
import { abandonClaimed } from './give-up.ts';
import { modelsUnder, requireSharedModel } from './grants.ts';
import { unlessGuessed } from './guesses.ts';
import { keepLeg } from './held-leg.ts';
import { withKnownCharge } from './known-charge.ts';
import { buyOnce } from './names.ts';
import { type CallParts } from './parts.ts';
import { recordClaim, recordUnanswered } from './record-claim.ts';
import { refusedByBook } from './refused-by-book.ts';
import { redeliver } from './replay.ts';
import { announce } from './response-headers.ts';
import { adopt, settle, transferElsewhere } from './settle.ts';
import {
  type Bought,
  type Claimed,
  type Held,
  type Kept,
  type Movement,
  type Presented,
  type SettledPayment,
} from './states.ts';
import { verifyCall } from './verify-payment.ts';
import { workUntil } from './work-time.ts';

/*
 * A paid call, from its request to its answer: verify → claim → work → settle → record. Each step goes on or throws `respond(outcome)`; the
 * outcomes are in respond.ts.
 *
 * What is stored if the process dies, by the last commit of the call. A call by API key stores nothing of itself before its record.
 *
 *   none     Nothing. The payment is unused.
 *   claim    The claim. It is released once the lease of this process has ended, because nothing was sent. If the payment is spent
 *            (`adopt`), it is settling from then on, as behind settle.
 *   settle   What is to be sent and what is in hand: the sealed answer, or what a stamp has found; of a stream only its model and hub. It
 *            is committed before it is sent, so any process sends it, and the chain decides. If the money has not moved, the claim is
 *            released. If it has, the call is recorded, a stream without its answer, which is then owed; the first of two payments is held.
 *   record   Row, receipt and leaf: the same payment gets the same answer.
 */

/**
 * Sells an answer in one piece. The payment settles only when the answer is there, so nothing is charged without one. The answer is sent
 * only once it is recorded, so no charged answer is lost. A stamp has no work: it looks up the facts that it needs, and the record writes
 * its effect.
 */
export async function sellWhole(
  parts: CallParts,
  paid: AnyWhole,
  args: JsonObject,
  context: Context,
): Promise<ChargedAnswer<JsonObject>> {
  const call = await begin(parts, paid, args, context);
  if (call.kind === 'kept') return call.charged;
  const { task_id, payer, bounds, steps } = call;
  try {
    steps.begin('work');
    const done =
      paid.order === 'stamp'
        ? ((await paid.find?.(call.args, payer, context, bounds)) ?? null)
        : await parts.underway.during(task_id, canceled =>
            paid.work(call.args, task_id, context, { ...bounds, canceled }),
          );
    await parts.faults?.reach('after_work');
    const settled = await call.settle(done);
    steps.begin('record');
    const charged = await settled.record(done);
    settled.announce();
    return charged;
  } catch (error) {
    throw await call.abandon(error);
  }
}

/**
 * Sells an answer that is streamed. Its work starts before the payment settles, and no text is sent before the money has moved, so nobody
 * reads free of charge. Then the text is completed and recorded even if its reader leaves, so nobody pays for an answer that cannot be had.
 */
export async function sellStream(
  parts: CallParts,
  paid: AnyStream,
  args: JsonObject,
  context: Context,
): Promise<ChargedStream<JsonObject>> {
  const call = await begin(parts, paid, args, context);
  if (call.kind === 'kept') return streamOf(paid, call);
  const { task_id, bounds, steps, status, rerun = null } = call;
  let driver: StreamDriver | null = null;
  try {
    steps.begin('work');
    const work = await parts.underway.during(task_id, canceled =>
      paid.open(call.args, task_id, context, { ...bounds, canceled }),
    );
    const reader = drivenBy(parts.faults, work);
    driver = reader;
    await parts.faults?.reach('after_work');
    const settled = await call.settle({ route: work.route });
    settled.announce();
    reader.release();
    // The reader of a later failure has already received part of the text.
    const recorded = reader.ended
      .then(() => settled.record(work.finishedWork()))
      .catch(async error => {
        throw await call.abandon(error);
      });
    parts.streams.add(recorded, () => reader.cancel());
    const { payment_ref } = settled;
    return {
      task_id,
      settlement_status: status,
      rerun,
      payment_ref,
      begun: work.begun,
      pieces: reader.pieces,
      recorded,
    };
  } catch (error) {
    driver?.cancel();
    throw await call.abandon(error);
  }
}

/** Sells the first of two payments for one call: it settles and is held, and is recorded with the second. Returns its reference. */
export async function sellFirst(
  parts: CallParts,
  paid: Leg<JsonObject>,
  args: JsonObject,
  context: Context,
): Promise<string> {
  const claimed = await claim(parts, paid, args, context);
  // The payment was recorded with its sibling just now. The next request gets the answer.
  if (claimed.kind === 'bought') throw parts.respond({ kind: 'unknown_here' });
  const call = await hold(parts, claimed, context);
  try {
    const settled = await call.settle(null);
    await parts.faults?.reach('before_hold');
    const { task_id, lease, payment } = claimed;
    const { transfer } = settled;
    const { authorization } = payment;
    await keepLeg(parts, { paid, args: claimed.args, task_id, lease, authorization, transfer });
    settled.announce();
    return settled.payment_ref ?? '';
  } catch (error) {
    throw await call.abandon(error);
  }
}

/** Begins a call on an API key, on a claim of its payment, or on a former purchase. */
async function begin(parts: CallParts, paid: AnyPaid, args: JsonObject, context: Context): Promise<Held | Kept> {
  const waiver = waiverOf(parts.respond, paid, context);
  if (waiver !== null) return holdByKey(parts, paid, args, waiver, context);
  const call = await claim(parts, paid, args, context);
  return call.kind === 'bought' ? redeliver(parts, call, context) : hold(parts, call, context);
}

/** Verifies the payment, then claims it. A former purchase, by the same payment or under the same name, claims nothing. */
async function claim(parts: CallParts, paid: AnyPaid, args: JsonObject, context: Context): Promise<Claimed | Bought> {
  context.response.stopwatch.begin('verify');
  try {
    const presented = await verifyCall(parts, paid, args, context);
    parts.precedence.begin(context, holderOf(context.principal.address));
    return await unlessGuessed(parts, presented, context, is_payers =>
      buyOnce(parts, presented, context, () => admitAndClaim(parts, { ...presented, is_payers }, context)),
    );
  } catch (error) {
    throw await withKnownCharge(parts, error, context.payment);
  }
}

/** Claims the payment and reserves its amount on the book, in one commit that other calls share. */
async function admitAndClaim(parts: CallParts, shown: Presented, context: Context): Promise<Claimed | Bought> {
  const admitted = await admitPayment(parts, shown, context);
  if (admitted.kind === 'replayed') return { kind: 'bought', presented: shown, before: admitted };
  if (admitted.kind === 'blocked') throw await refusedByBook(parts, admitted, context);

  context.response.stopwatch.begin('claim');
  const { presented, funds } = admitted;
  const spent = funds === null;
  const task_id = newTask(parts);
  const { claim, outcome } = await takeClaim(parts, { ...presented, task_id, means: funds }, spent, context);
  switch (outcome.kind) {
    case 'claimed': {
      const allowed_models = modelsUnder(presented, outcome.allowed_models);
      return { ...presented, kind: 'claimed', claim, lease: outcome.lease, task_id, allowed_models, spent };
    }
    case 'replayed':
      return { kind: 'bought', presented, before: outcome };
    case 'blocked':
    case 'blocked_too_often':
      throw await refusedByBook(parts, outcome, context);
    case 'refused_by_session':
      parts.failures.tried(presented.payer.wallet, presented.address_mark);
      throw parts.respond(outcome);
    default:
      throw parts.respond(outcomeOfClaim(outcome, presented.paid));
  }
}

/**
 * Holds a call that rests on its own payment. Its money moves in `settle` and nowhere else. If its payment is used already, the chain is
 * asked before any work whether it paid this service. If it did, the money has moved and nothing is sent.
 */
async function hold(parts: CallParts, claimed: Claimed, context: Context): Promise<Held<SettledPayment>> {
  const { task_id, args, payment, payer, allowed_models } = claimed;
  const { stopwatch: steps } = context.response;
  let movement: Movement = 'nothing_moved';
  let stopped: Refusal | null = null;
  const abandon = (error: unknown) => abandonClaimed(parts, claimed, movement, error);
  try {
    await parts.faults?.reach('after_claim');
    const elsewhere = claimed.spent ? await transferElsewhere(parts, claimed) : null;
    if (elsewhere === null) requireSharedModel(claimed.call, allowed_models);
    else {
      movement = 'moved';
      await adopt(parts, claimed, elsewhere);
      stopped = await stoppedByBook(parts, claimed, elsewhere);
      if (stopped !== null) throw stopped;
    }
    return {
      kind: 'held',
      task_id,
      args,
      payer,
      status: 'settled',
      bounds: { until_ms: workUntil(parts.clock.now_ms(), elsewhere ? null : payment.authorization), allowed_models },
      steps,
      async settle(in_hand) {
        steps.begin('settle');
        if (elsewhere === null) movement = 'may_have_moved';
        const settled = await settle(parts, claimed, in_hand, elsewhere);
        movement = settled.kind === 'transferred' ? 'moved' : settled.movement;
        if (settled.kind === 'refused') throw settled.refusal;
        return settledBy(parts, claimed, settled.transfer, context);
      },
      abandon,
    };
  } catch (error) {
    throw error === stopped ? error : await abandon(error);
  }
}

/** The call once its own payment has moved in that transfer. */
function settledBy(parts: CallParts, claimed: Claimed, transfer: RecordableOutcome, context: Context): SettledPayment {
  const { payment, task_id, claim } = claimed;
  const { tx_hash: transaction } = transfer;
  const transfer_index = transfer.kind === 'transferred' ? transfer.transfer_index : null;
  return {
    transfer,
    payment_ref: `${claim.network}:${transaction}`,
    record: done => recordClaim(parts, claimed, done, transfer),
    announce: () => announce(parts, context, { payment, task_id, transaction, transfer_index, landing: claim.landing }),
  };
}

/**
 * Returns the refusal if somebody else moved the money and the book's kill switch is on: the payment is recorded and no work is done. Null
 * otherwise. A stamp has no work that could be stopped: it takes effect or not.
 */
async function stoppedByBook(parts: CallParts, claimed: Claimed, transfer: RecordableOutcome): Promise<Refusal | null> {
  const { paid, claim, task_id } = claimed;
  const works = paid.order === 'work_then_settle' || paid.order === 'stream';
  if (!works || !(await isBookStopped(parts.database, claim.agent_id))) return null;
  await recordUnanswered(parts, claimed, transfer);
  return parts.respond({ kind: 'kill_switch_resend', task_id, verify_url: verifyUrl(parts.base_url, task_id) });
}

/** The stored answer as a stream, with each channel in one piece. */
function streamOf(paid: AnyStream, { charged, payment_ref }: Kept): ChargedStream<JsonObject> {
  const { answer: begun, task_id, settlement_status, rerun = null } = charged;
  const recorded = Promise.resolve(charged);
  return { task_id, settlement_status, rerun, payment_ref, begun, pieces: once(paid.piecesOf(begun)), recorded };
}

async function* once(pieces: readonly Piece[]): AsyncGenerator<Piece> {
  yield* pieces;
}
