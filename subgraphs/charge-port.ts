import type { JsonObject } from '../schema/canonical-json.ts';
import type { TaskId } from '../schema/ids.ts';
import type { settlementStatuses } from '../schema/settlement-status.ts';
import type { WordOf } from '../schema/words.ts';
import type { Context } from './context.ts';
import type { Piece } from './piece.ts';
import type { Stream, TwoLegs, Whole } from './sale.ts';

/* The functions by which a resolver charges for a paid field (sale.ts), and their results. */

export type SettlementStatus = WordOf<typeof settlementStatuses>;

export interface ChargedAnswer<T extends JsonObject> {
  readonly answer: T;
  readonly task_id: TaskId;
  readonly settlement_status: SettlementStatus;
  /** The receipt, as an object that the receipt subgraph made and recognises. */
  readonly receipt: object;
  /** Number of reruns that the same payment can still request after an answer that broke off. Null or absent if there was no payment. */
  readonly reruns_left?: number | null;
  /** Number of the rerun that made this answer, from 1. Null or absent if the answer was not made by a rerun. */
  readonly rerun?: number | null;
}

/** A stream that was paid for, or whose payment was waived. It is completed and recorded whether or not it is read. */
export interface ChargedStream<T extends JsonObject> {
  readonly task_id: TaskId;
  readonly settlement_status: SettlementStatus;
  readonly rerun: number | null;
  /** Reference of the payment, such as `base:0x…`. Null if nothing was paid. */
  readonly payment_ref: string | null;
  readonly begun: T;
  /** Pieces for a single reader. A slow reader does not delay the work, which continues to its end. */
  readonly pieces: AsyncIterable<Piece>;
  /** Resolves with answer and receipt after the last piece. Rejects with a Refusal if they could not be recorded. */
  readonly recorded: Promise<ChargedAnswer<T>>;
}

/**
 * Sells one field: verifies the payment, claims it and reserves the amount, does the work, settles and records, in the order that
 * `paid.order` names. `args` are the canonical coerced arguments. Throws Refusals that a caller can act on (`payment_required` carries the
 * offer); any other error is a fault of this service.
 */
export type Charge = <A extends JsonObject, T extends JsonObject>(
  paid: Whole<A, T>,
  args: A,
  context: Context,
) => Promise<ChargedAnswer<T>>;

/**
 * Like `Charge`, for an answer that is streamed. Resolves once the payment has settled, before anything is sent to the caller. Until then
 * it throws what `Charge` throws.
 */
export type ChargeStream = <A extends JsonObject, T extends JsonObject>(
  paid: Stream<A, T>,
  args: A,
  context: Context,
) => Promise<ChargedStream<T>>;

/**
 * Sells an operation that is paid for with two payments. Each call requests the payment that is still missing, and the call with the second
 * payment returns the answer. Once the first payment has moved, the offer of the second one states that.
 */
export type ChargeLegs = <A extends JsonObject, T extends JsonObject>(
  legs: TwoLegs<A, T>,
  args: A,
  context: Context,
) => Promise<ChargedAnswer<T>>;

/** What a subgraph with paid fields needs from the process. */
export interface ChargePort {
  readonly charge: Charge;
  readonly chargeStream: ChargeStream;
  readonly chargeLegs: ChargeLegs;
}
