import type { JsonObject } from '../../schema/canonical-json.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Charged, ChargedStream, ChargeStream, Speaking } from '../../subgraphs/sale.ts';
import type { Moved } from '../rails/outcome.ts';
import type { AnyStream } from '../record/recorder.ts';
import { redeliverStream } from './bought-streamed.ts';
import type { Claimed } from './claim-request.ts';
import { workUntil } from './deadline.ts';
import { type Pump, pumpOf } from './drive-stream.ts';
import { type Entered, enter } from './paid-whole.ts';
import { announce } from './payment-response.ts';
import { abandon, adoptTransfer, moved, recordClaim, type Standing, settleClaim } from './settle-claim.ts';
import { transferElsewhere } from './spent-elsewhere.ts';
import type { Till } from './till.ts';
import { withTransaction } from './transaction-sent.ts';
import { chargeStreamByKey, waiverOf } from './waived.ts';

/**
 * The story of a paid call whose answer is streamed, from the claim on that it shares with charge.ts:
 * the work begins to speak → settle → the text goes out while it is spoken → record. Nothing goes out before the money
 * has moved, so nobody reads for free; and once it has, the text is brought to its end and recorded whether or not its
 * reader stays, so nobody pays for what cannot be had.
 */
export function openChargeStream(till: Till): ChargeStream {
  const charge = async (paid: AnyStream, args: JsonObject, context: Context): Promise<ChargedStream<JsonObject>> => {
    const waiver = waiverOf(paid, context);
    if (waiver) return chargeStreamByKey(till, paid, args, waiver, context);
    return chargePayment(till, paid, args, context).catch(async error => {
      throw await withTransaction(till, context, error);
    });
  };
  return charge as unknown as ChargeStream;
}

async function chargePayment(
  till: Till,
  paid: AnyStream,
  args: JsonObject,
  context: Context,
): Promise<ChargedStream<JsonObject>> {
  const entered = await enter(till, paid, args, context);
  if (entered.kind === 'claimed') return carryOut(till, paid, entered, context);
  context.response.stopwatch.begin('replay');
  return redeliverStream(till, paid, entered, context);
}

async function carryOut(
  till: Till,
  paid: AnyStream,
  { claimed, spent }: Extract<Entered, { kind: 'claimed' }>,
  context: Context,
): Promise<ChargedStream<JsonObject>> {
  const { args, task_id, payment, claim } = claimed;
  let standing: Standing = 'nothing_moved';
  let pump: Pump | null = null;
  try {
    await till.faults.reach('after_claim');
    const elsewhere = spent ? await transferElsewhere(till, claimed) : null;
    if (elsewhere) {
      standing = 'moved';
      await adoptTransfer(till, claimed, elsewhere);
    }
    context.response.stopwatch.begin('work');
    const until_ms = workUntil(till.clock.now_ms(), elsewhere ? null : payment.authorization);
    const speaking = await paid.open(args, task_id, context, until_ms);
    pump = pumpOf(till, speaking);
    await till.faults.reach('after_work');

    context.response.stopwatch.begin('settle');
    if (!elsewhere) standing = 'may_have_moved';
    const settlement = elsewhere ? moved(elsewhere) : await settleClaim(till, claimed, { route: speaking.route });
    standing = settlement.standing;
    if (settlement.kind === 'refused') throw settlement.refusal;

    const { transfer } = settlement;
    await announce(till, context, { payment, task_id, transaction: transfer.tx_hash, landing: claim.landing });
    const recorded = drive(till, claimed, speaking, pump, transfer);
    const payment_ref = `${claim.network}:${transfer.tx_hash}`;
    const { begun } = speaking;
    return { task_id, settlement_status: 'settled', payment_ref, begun, pieces: pump.pieces, recorded };
  } catch (error) {
    pump?.cancel();
    throw await abandon(till, claimed, standing, error);
  }
}

/** Lets the text go out, and records it at its end. Whoever is told of a fault here has seen the text already. */
function drive(
  till: Till,
  claimed: Claimed,
  speaking: Speaking<JsonObject>,
  pump: Pump,
  transfer: Moved,
): Promise<Charged<JsonObject>> {
  pump.release();
  const recorded = pump.ended
    .then(() => recordClaim(till, claimed, speaking.spoken(), transfer))
    .catch(async error => {
      throw await abandon(till, claimed, 'moved', error);
    });
  till.streams.add(recorded, () => pump.cancel());
  return recorded;
}
