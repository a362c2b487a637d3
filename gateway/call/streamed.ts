import type { JsonObject } from '../../schema/canonical-json.ts';
import type { ChargedAnswer, ChargedStream } from '../../subgraphs/charge-port.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Piece } from '../../subgraphs/piece.ts';
import type { AnyStream, StreamedWork } from '../../subgraphs/sale.ts';
import type { Faults } from '../operations/faults.ts';
import type { WorkUnderway } from './cancel.ts';
import { drivenBy, type StreamDriver, type StreamsInFlight } from './drive-stream.ts';
import type { Held, KeptCall } from './held.ts';

interface Streaming {
  readonly streams: StreamsInFlight;
  readonly underway: WorkUnderway;
  readonly faults: Faults | null;
}

/**
 * A streamed answer: work starts → settle → text is sent → record. Nothing is sent before the money has moved, so nobody reads
 * free of charge; afterwards the text is completed and recorded whether or not its reader stays, so nobody pays for what cannot
 * be had.
 */
export async function deliverStreamed(
  streaming: Streaming,
  paid: AnyStream,
  held: Held,
  context: Context,
): Promise<ChargedStream<JsonObject>> {
  const { task_id, args, bounds, status, steps, rerun = null } = held;
  let driver: StreamDriver | null = null;
  try {
    steps.begin('work');
    const open = (canceled: AbortSignal) => paid.open(args, task_id, context, { ...bounds, canceled });
    const speaking = await streaming.underway.during(task_id, open);
    driver = drivenBy(streaming.faults, speaking);
    await streaming.faults?.reach('after_work');
    const settled = await held.settle({ route: speaking.route });
    settled.announce();
    const recorded = letOut(streaming.streams, speaking, driver, held);
    const { payment_ref } = settled;
    const { begun } = speaking;
    return { task_id, settlement_status: status, rerun, payment_ref, begun, pieces: driver.pieces, recorded };
  } catch (error) {
    driver?.cancel();
    throw await held.abandon(error);
  }
}

/** Sends the text and records it at its end. A fault here reaches a reader who has seen the text already. */
function letOut(
  streams: StreamsInFlight,
  speaking: StreamedWork<JsonObject>,
  driver: StreamDriver,
  held: Held,
): Promise<ChargedAnswer<JsonObject>> {
  driver.release();
  const recorded = driver.ended
    .then(() => held.record(speaking.finishedWork()))
    .catch(async error => {
      throw await held.abandon(error);
    });
  streams.add(recorded, () => driver.cancel());
  return recorded;
}

/** The stored text, each channel in one piece. */
export function streamKept(paid: AnyStream, { charged, payment_ref }: KeptCall): ChargedStream<JsonObject> {
  const { answer: begun, task_id, settlement_status, rerun = null } = charged;
  const recorded = Promise.resolve(charged);
  return { task_id, settlement_status, rerun, payment_ref, begun, pieces: once(paid.piecesOf(begun)), recorded };
}

async function* once(pieces: readonly Piece[]): AsyncGenerator<Piece> {
  yield* pieces;
}
