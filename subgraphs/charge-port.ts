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
  /**
   * For an answer that broke off: number of times that the same payment can still have the work done again. Null or
   * absent if there was no payment.
   */
  readonly reruns_left?: number | null;
  /** For an answer of repeated work: number of the rerun, from 1. Null or absent otherwise. */
  readonly rerun?: number | null;
}

/** A stream that is paid for, or waived. It is completed and recorded whether or not it is read. */
export interface ChargedStream<T extends JsonObject> {
  readonly task_id: TaskId;
  readonly settlement_status: SettlementStatus;
  readonly rerun: number | null;
  /** `base:0x…`. Null if nothing was paid. */
  readonly payment_ref: string | null;
  readonly begun: T;
  /** For one reader. A slow reader delays no other. */
  readonly pieces: AsyncIterable<Piece>;
  /** Answer and receipt, after the last piece. Rejects with a Refusal if they could not be recorded. */
  readonly recorded: Promise<ChargedAnswer<T>>;
}

/**
 * Sells one field: verify, claim and reserve, work, settle, record, in the order that `paid` names.
 * `args` are the canonical coerced arguments. Throws Refusals that a caller can act on (`payment_required` carries the
 * offer); anything else is a fault of ours.
 */
export type Charge = <A extends JsonObject, T extends JsonObject>(
  paid: Whole<A, T>,
  args: A,
  context: Context,
) => Promise<ChargedAnswer<T>>;

/**
 * The same for an answer that is streamed: resolves once the payment has settled, before anything is sent to the caller. Until then it
 * throws what `Charge` throws.
 */
export type ChargeStream = <A extends JsonObject, T extends JsonObject>(
  paid: Stream<A, T>,
  args: A,
  context: Context,
) => Promise<ChargedStream<T>>;

/**
 * Sells an operation that is paid for in two parts: the next payment is requested, and the second returns the answer.
 * After the first has moved, the offer of the second says so.
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
