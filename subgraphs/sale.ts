import type { AtomicAmount } from '../schema/amount.ts';
import type { JsonObject } from '../schema/canonical-json.ts';
import type { ErrorCode, Refusal } from '../schema/errors.ts';
import type { AgentId, TaskId } from '../schema/ids.ts';
import type { jobKindWords } from '../schema/job-kind.ts';
import { limits } from '../schema/limits.ts';
import type { NetworkName } from '../schema/network.ts';
import type { ObservedTransfer } from '../schema/observed-transfer.ts';
import type { ProviderCogs } from '../schema/receipt-shapes.ts';
import type { NamedIntent } from '../schema/requests/paid-work.ts';
import type { WordOf } from '../schema/words.ts';
import type { AnswerEnd, BrokenBy } from './answer-end.ts';
import type { Context } from './context.ts';
import type { Tx } from './database.ts';
import type { Piece } from './piece.ts';
import type { StampedRow, StampFact } from './stamped-row.ts';

/*
 * What a paid field declares of its sale, for `charge(paid, args, context)`: price, order, networks, slots, and its
 * work.
 */

/** Who paid, as the payment itself proves it. The wallet is in the chain's own spelling (EIP-55 on Base). */
export interface Payer {
  readonly network: NetworkName;
  readonly wallet: string;
}

export type JobKind = WordOf<typeof jobKindWords>;

/** Model and hub that answered. */
export interface Route {
  readonly model: string;
  readonly hub: string;
  /** The model that the hub named in its answer; null or left out where it named none. */
  readonly answered_model?: string | null;
  /**
   * Id of the hub's catalogue that `answered_model` names, by its current configuration: `model` itself, if it is an
   * alias of it, or another id. Null or absent if it names none, or if it is `model` with only a version added.
   */
  readonly answered_catalogue_model?: string | null;
}

/** What the work brought. `answer` is the domain value: it is kept sealed for redelivery and projected per selection. */
export interface Work<T extends JsonObject> {
  readonly answer: T;
  readonly route: Route;
  /** SHA-256 hex of the output, committed to in the receipt; null where there is nothing to commit to. */
  readonly output_sha256: string | null;
  /** Names of the members that the hash covers; null or left out where there is none. */
  readonly output_covers?: readonly string[] | null;
  /** Why there is nothing to commit to. */
  readonly omission_rule: OmissionRule | null;
  /** How the answer ended. */
  readonly end: AnswerEnd;
  /** What it cost us, where a price is known. */
  readonly provider_cogs?: ProviderCogs | null;
  /** The output is at the hub and is fetched from there by the caller, whom `vendor_blind` then no longer hides. */
  readonly fetched_there?: boolean;
}

/**
 * Why a receipt commits to no output: the payment is proven, the output is not. `process_ended`: this service crashed
 * or was stopped; no answer is kept, and the next resend is worked for. `no_input`: a task was accepted and no hub was
 * called yet. `hub_broke_off` also covers a request that its hub refused during the answer and a limit of this service;
 * those two allow no rerun.
 */
export type OmissionRule = 'no_output' | 'no_input' | 'hub_broke_off' | 'process_ended';

/** Why the receipt of an answer that broke off commits to no output. */
export const omissionOf: Readonly<Record<BrokenBy, OmissionRule>> = {
  hub: 'hub_broke_off',
  request: 'hub_broke_off',
  limit: 'hub_broke_off',
  stop: 'process_ended',
};

/** Work that has begun to speak: the first piece of it is in hand, and nothing was sent on yet. */
export interface StreamedWork<T extends JsonObject> {
  readonly route: Route;
  /** The answer without what is said: what is known of it before it is spoken. */
  readonly begun: T;
  /**
   * Pieces as they arrive, in order. Ends when the answer ends, breaks off or grows too long; never throws. The hub is
   * read no further than the reader reads.
   */
  readonly pieces: AsyncIterable<Piece>;
  /** All that was said, once the pieces have ended. */
  finishedWork(): Work<T>;
  /** Stops listening: the pieces end. */
  cancel(): void;
}

/** Arguments of a stamp's commit: the money has moved, or an API key was used, and this is recorded now. */
export interface StampContext {
  readonly task_id: TaskId;
  /** Null, as its payment, where a key stood in for it. */
  readonly payer: Payer | null;
  readonly agent_id: AgentId | null;
  readonly payment_ref: string | null;
  /** Where it moved; null where a key stood in for it. */
  readonly transfer: ObservedTransfer | null;
  /** The time of the record, under the log's lock: that of its row and receipt. */
  readonly recorded_at_ms: number;
}

export type Order = 'work_then_settle' | 'stream' | 'stamp' | 'leg';

/** For how long a payment must still be valid: time to settle it and, before that, to work. */
export const validity_seconds_min: Record<Order, number> = {
  work_then_settle: limits.payment_validity_with_work_seconds_min,
  stream: limits.payment_validity_with_work_seconds_min,
  stamp: limits.payment_validity_seconds_min,
  leg: limits.payment_validity_seconds_min,
};

/** A kind of key that may stand in for a payment. */
export type WaivingKey = 'live' | 'demo' | 'waiver';
/** Those that do for work. */
export const CALL_KEYS = ['live', 'demo'] as const satisfies readonly WaivingKey[];

/** Within what work is done. */
export interface WorkBounds {
  /** On the clock of the context: from then on the work is worth nothing, as the payment could not be settled for it. */
  readonly until_ms: number;
  /** Ids of the models that may answer under the book's policy. Null if it does not limit them, or if there is no book. */
  readonly allowed_models: readonly string[] | null;
  /** Aborted once the buyer cancels: the hub's request is closed. Absent if this cannot be detected. */
  readonly canceled?: AbortSignal;
}

interface SoldOperation<A extends JsonObject> {
  /** Coordinate of the paid field; with the canonical arguments it is what a payment is bound to. */
  readonly field: `Mutation.${string}` | `Subscription.${string}`;
  readonly job_kind: JobKind;
  /** What an offer calls it; left out: by its field. */
  readonly offered_as?: string;
  /** Null in the list of paid operations if the price depends on the request; the charging code states it then. */
  readonly price_atomic: AtomicAmount | null;
  /** Payee on its only network. Absent: this service. */
  readonly pay_to?: string;
  readonly networks: readonly NetworkName[];
  /** URL at which it is offered, if the offer is made for this request. Absent: the serving code knows it. */
  readonly resource?: string | undefined;
  /** For how long from now on its payment may be valid; left out: as long as any. */
  readonly validity_seconds_max?: number;
  /** Whether its price is held against the book's ceiling from the claim on, and the book's policy applies. */
  readonly reserves: boolean;
  /** Amount held, if it is more than the price: the rest of the same purchase is checked only once. */
  readonly reserved_atomic?: AtomicAmount;
  /** For the second of two payments: names of the sessions whose caps already count both. */
  readonly held_under?: readonly string[];
  /** The kinds of key that may stand in for its payment. */
  readonly stand_ins: readonly WaivingKey[];
  /** Intent, attempt and parent as the request names them: they stand on the row. */
  intent?(args: A): NamedIntent;
  /** The model as the request names it: it stands on the row of a call that its book refuses. */
  model?(args: A): string | null;
  /**
   * Ids of the models one of which will answer, by whatever alias the request names them, for the book's policy.
   * Absent: no model is involved, and a list of allowed models does not limit the operation.
   */
  models?(args: A): readonly string[];
  /** The same of svc/auto for these arguments, whatever they name: what a grant of svc/auto allows. */
  auto_models?(args: A): readonly string[];
  /**
   * The same arguments as the version before would have bound a payment to them, where it left something out; null where it would not.
   * Left out: it bound them as this one does.
   */
  former_args?(args: A): JsonObject | null;
  /**
   * Last word before the claim, with the payer proven: throws a Refusal, and the payment stays usable.
   * Nothing that it finds free may be relied on later: what must be unique is a slot.
   * `payer` is null where a key stands in for the payment.
   */
  admit?(args: A, payer: Payer | null, context: Context): Promise<void>;
  /** Names that only one live claim may hold ("wallet:0x…"), taken in the claim's own transaction. */
  slots?(args: A, payer: Payer): readonly string[];
  /** Error for a caller whose slot is taken by another payment. */
  readonly slot_taken?: ErrorCode;
  /** Seconds after which to retry, if the slot may be free by then. */
  readonly slot_retry_seconds?: number;
  /** The book on which the row lands; without it the session's, or else the payer's. Never looks at the money. */
  book?(args: A, payer: Payer, context: Context): Promise<AgentId | null>;
}

/** The work is done first; the payment settles only for an answer in hand. */
export interface WorkThenSettle<A extends JsonObject, T extends JsonObject> extends SoldOperation<A> {
  readonly order: 'work_then_settle';
  /** Throws a Refusal (`hub_failed`) and nothing is charged. */
  work(args: A, task_id: TaskId, context: Context, bounds: WorkBounds): Promise<Work<T>>;
}

/** The work begins to speak, then the payment settles, and only then does the text go out while it is being spoken. */
export interface Stream<A extends JsonObject, T extends JsonObject> extends SoldOperation<A> {
  readonly order: 'stream';
  /** Resolves with the first piece in hand, in time. Throws a Refusal (`hub_failed`) and nothing is charged. */
  open(args: A, task_id: TaskId, context: Context, bounds: WorkBounds): Promise<StreamedWork<T>>;
  /** What an answer that was kept says, to be streamed once more: one piece of each channel. */
  piecesOf(answer: T): readonly Piece[];
}

/** The payment settles first; its effect is written in the transaction that records it, so it cannot be lost. */
export interface Stamp<A extends JsonObject, T extends JsonObject, F extends JsonObject = JsonObject>
  extends SoldOperation<A> {
  readonly order: 'stamp';
  readonly route: Route;
  /**
   * Its receipt signs book and payment side by side (book_chain). `off_book`: it counts against nothing, and no row of the book is
   * its own; `on_book`: it is a row as any call's.
   */
  readonly chained?: 'off_book' | 'on_book';
  /**
   * The second of two payments for one request. Proof and Idempotency-Key come with both and belong to the first, which
   * is final before this one is requested.
   */
  readonly after_first?: true;
  /**
   * Looks elsewhere under the claim, before any money moves. What it finds is sealed with the claim as the payment is sent:
   * row and effect are made from that alone, by whichever process gets there. Throws a Refusal and nothing is charged.
   */
  find?(args: A, payer: Payer | null, context: Context, bounds: WorkBounds): Promise<StampFact<F>>;
  /** What it is bought for, beside its effect: a row with a receipt of its own. Pure. */
  row?(args: A, fact: F, stamped: Omit<StampContext, 'recorded_at_ms'>): StampedRow;
  /** Runs inside the recording transaction, also by reconcile after a crash: no I/O but `tx`, no caller's context. */
  commit(tx: Tx, args: A, stamped: StampContext, fact: F | null): Promise<T>;
}

/**
 * The first of two payments: its money goes to another party, and is `held` as moved, without a receipt, until the
 * second has moved. Its payee could still submit a released payment, so its slots are kept until the chain rules that
 * out.
 */
export interface Leg<A extends JsonObject> extends SoldOperation<A> {
  readonly order: 'leg';
  readonly route: Route;
  /** Runs inside the transaction that holds it, also by reconcile after a crash. Never refuses: the money has moved. */
  onHold(tx: Tx, args: A, kept: { readonly task_id: TaskId; readonly payment_ref: string }): void;
  /** Runs inside the transaction that lets go of what was kept, as the chain does not have it: it is to be paid again. */
  onRelease(tx: Tx, args: A, task_id: TaskId): void;
  /**
   * Slot of the second payment: while it is held, no other second payment is requested, and the stored state stays as
   * it is.
   */
  second_slot(args: A): string;
}

/** An operation paid for in two parts. The second requests nothing that the first has not, and is recorded for both. */
export interface TwoLegs<A extends JsonObject, T extends JsonObject> {
  /** The slot of the first, which it keeps for as long as it may still move (receipt/claim/slots.ts). */
  readonly slot: string;
  readonly first: Leg<A>;
  readonly second: Stamp<A, T>;
  /** Result of both payments, returned for good to a caller that sends one of them or none. */
  readonly brought: T | null;
  /** Error for a caller that sends another payment then. */
  readonly brought_already: ErrorCode;
  /** Why nothing can be paid by this request; it is said with what is known of a payment that came along. */
  readonly refused: Refusal | null;
}

/** Sold as one answer, in one piece. */
export type Whole<A extends JsonObject, T extends JsonObject> = WorkThenSettle<A, T> | Stamp<A, T>;
export type AnswerSale<A extends JsonObject, T extends JsonObject> = Whole<A, T> | Stream<A, T>;

/** Any paid field: who charges for it does not care what is sold. */
export type AnyPaid = AnswerSale<JsonObject, JsonObject> | Leg<JsonObject>;
export type AnyWhole = Whole<JsonObject, JsonObject>;
export type AnyStream = Stream<JsonObject, JsonObject>;
