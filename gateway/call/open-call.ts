import { type JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { type Charge, type ChargeLegs, type ChargePort, type ChargeStream } from '../../subgraphs/charge-port.ts';
import { type Context } from '../../subgraphs/context.ts';
import { type CancelWatcher } from '../../subgraphs/live-channels.ts';
import { type SessionContext } from '../../subgraphs/session/context.ts';
import { type Precedence } from '../operations/precedence.ts';
import { type Rates } from '../rates/rates.ts';
import { type Challenges } from '../x402/offer.ts';
import { sellFirst, sellStream, sellWhole } from './call.ts';
import { cancelPaidTask, watchCanceled } from './cancel.ts';
import { StreamsInFlight } from './drive-stream.ts';
import { Failures } from './failures.ts';
import { type Ground } from './ground.ts';
import { type Judge, openJudge } from './judge.ts';
import { KeyCalls } from './key-calls.ts';
import { type CallParts, type Seller } from './parts.ts';
import { type OpenedRecording } from './record/open-recording.ts';
import { openRefusalOfAct } from './refused-by-book.ts';
import { ReleaseLater } from './release-later.ts';
import { openMarks } from './request.ts';
import { openRespond } from './respond.ts';
import { withTransaction } from './response-headers.ts';
import { type AnyLegs, sellInTwo } from './two-legs.ts';
import { WorkUnderway } from './work-underway.ts';

interface CallOptions {
  readonly challenges: Challenges;
  readonly recording: OpenedRecording;
  readonly rates: Pick<Rates, 'uncharged'>;
  readonly precedence: Pick<Precedence, 'begin' | 'end'>;
}

export interface OpenedCall extends ChargePort {
  readonly judge: Judge;
  /** Streams that this process completes, with or without readers. */
  readonly streams: StreamsInFlight;
  /** Claims to release once the database is back. */
  readonly later: ReleaseLater;
  readonly onCanceled: CancelWatcher;
  readonly refusalOfAct: SessionContext['refusalOfAct'];
  cancelTask(task_id: string): Promise<boolean>;
}

/** Opens the sale of calls. Returns the functions by which resolvers charge, and what this process remembers of its calls. */
export function openCall(
  ground: Ground,
  seller: Omit<Seller, 'respond'>,
  { challenges, recording, rates, precedence }: CallOptions,
): OpenedCall {
  const respond = openRespond(challenges, seller.base_url);
  const { queues, record, blocked_calls, judgeAct } = recording;
  const parts: CallParts = {
    ...ground,
    ...seller,
    respond,
    queues,
    record,
    blocked_calls,
    precedence,
    failures: new Failures(rates.uncharged, ground.clock),
    underway: new WorkUnderway(),
    streams: new StreamsInFlight(),
    key_calls: new KeyCalls(limits.key_calls_underway_max, respond),
    later: new ReleaseLater(),
    marksOf: openMarks(ground.vault),
  };
  const sales = { first: sellFirst.bind(null, parts), second: sellWhole.bind(null, parts) };
  const legs = (of: AnyLegs, args: JsonObject, context: Context) => sellInTwo(parts, sales, of, args, context);
  return {
    // These functions sell every declaration. Each caller gets the type of its own declaration.
    charge: sold(parts, sales.second) as unknown as Charge,
    chargeStream: sold(parts, sellStream.bind(null, parts)) as unknown as ChargeStream,
    chargeLegs: sold(parts, legs) as unknown as ChargeLegs,
    judge: openJudge(parts),
    streams: parts.streams,
    later: parts.later,
    onCanceled: watchCanceled(parts),
    refusalOfAct: openRefusalOfAct(parts, judgeAct),
    cancelTask: task_id => cancelPaidTask(parts, task_id),
  };
}

/**
 * A sale as resolvers call it. A caller whose payment's outcome is unknown gets the transaction that was sent for it. The precedence of the
 * call ends with its answer or its error; a stream is answered once it is recorded.
 */
function sold<P, T extends object>(
  parts: CallParts,
  sell: (paid: P, args: JsonObject, context: Context) => Promise<T>,
): typeof sell {
  return async (paid, args, context) => {
    const end = () => parts.precedence.end(context);
    let recorded: Promise<unknown> | null = null;
    try {
      const answer = await sell(paid, args, context);
      if ('recorded' in answer) recorded = answer.recorded as Promise<unknown>;
      return answer;
    } catch (error) {
      throw await withTransaction(parts, context, error);
    } finally {
      if (recorded === null) end();
      else recorded.then(end, end);
    }
  };
}
