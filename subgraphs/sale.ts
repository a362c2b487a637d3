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

/** Payer of a payment, as proven by the payment. The wallet is in the chain's own spelling (EIP-55 on Base). */
export interface Payer {
  readonly network: NetworkName;
  readonly wallet: string;
}

export type JobKind = WordOf<typeof jobKindWords>;

/** Model and hub that answered. */
export interface Route {
  readonly model: string;
  readonly hub: string;
  /** Model that the hub named in its answer. Null or absent if it named none. */
  readonly answered_model?: string | null;
  /**
   * Id of the hub's catalogue that `answered_model` names, by its current configuration: `model` itself, if it is an
   * alias of it, or another id. Null or absent if it names none, or if it is `model` with only a version added.
   */
  readonly answered_catalogue_model?: string | null;
}

/** Result of the work. `answer` is the domain value: it is stored encrypted for redelivery, and projected per selection. */
export interface Work<T extends JsonObject> {
  readonly answer: T;
  readonly route: Route;
  /** SHA-256 of the output in hex, to which the receipt commits. Null if the receipt commits to no output. */
  readonly output_sha256: string | null;
  /** Names of the members that the hash covers. Null or absent if there is no hash. */
  readonly output_covers?: readonly string[] | null;
  /** Why the receipt commits to no output. Null if it commits to one. */
  readonly omission_rule: OmissionRule | null;
  /** How the answer ended. */
  readonly end: AnswerEnd;
  /** Cost of the work to this service, if its price is known. */
  readonly provider_cogs?: ProviderCogs | null;
  /** Whether the caller fetches the output from the hub, from which `vendor_blind` then no longer hides the caller. */
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

/** Streamed work whose first piece has arrived. Nothing has been sent to the caller yet. */
export interface StreamedWork<T extends JsonObject> {
  readonly route: Route;
  /** The answer without its streamed content, as far as it is known in advance. */
  readonly begun: T;
  /**
   * Pieces as they arrive, in order. Ends when the answer ends, breaks off or grows too long; never throws. The hub is
   * read no further than the reader reads.
   */
  readonly pieces: AsyncIterable<Piece>;
  /** The complete work, after the pieces have ended. */
  finishedWork(): Work<T>;
  /** Stops reading the answer: the pieces end. */
  cancel(): void;
}

/** Arguments of a stamp's commit: the money has moved, or an API key was used, and this is recorded now. */
export interface StampContext {
  readonly task_id: TaskId;
  /** Null, like `payment_ref`, if an API key was used instead of a payment. */
  readonly payer: Payer | null;
  readonly agent_id: AgentId | null;
  readonly payment_ref: string | null;
  /** Transfer of the payment. Null if an API key was used instead of a payment. */
  readonly transfer: ObservedTransfer | null;
  /** Time of the record, taken under the log's lock. Its row and receipt have the same time. */
  readonly recorded_at_ms: number;
}

export type ChargeOrder = 'work_then_settle' | 'stream' | 'stamp' | 'leg';

/** Seconds for which a payment must still be valid: enough to do the work, if it is done first, and to settle. */
export const validity_seconds_min: Record<ChargeOrder, number> = {
  work_then_settle: limits.payment_validity_with_work_seconds_min,
  stream: limits.payment_validity_with_work_seconds_min,
  stamp: limits.payment_validity_seconds_min,
  leg: limits.payment_validity_seconds_min,
};

/** A kind of key that can be accepted instead of a payment. */
export type WaivingKey = 'live' | 'demo' | 'waiver';
/** Keys that are accepted for work. */
export const CALL_KEYS = ['live', 'demo'] as const satisfies readonly WaivingKey[];

/** Limits of the work. */
export interface WorkBounds {
  /** Time by the context's clock after which the work is useless, because the payment could no longer be settled for it. */
  readonly until_ms: number;
  /** Ids of the models that may answer under the book's policy. Null if it does not limit them, or if there is no book. */
  readonly allowed_models: readonly string[] | null;
  /** Aborted once the buyer cancels: the hub's request is closed. Absent if this cannot be detected. */
  readonly canceled?: AbortSignal;
}

interface SoldOperation<A extends JsonObject> {
  /** Coordinate of the paid field. A payment is bound to it and to the canonical arguments. */
  readonly field: `Mutation.${string}` | `Subscription.${string}`;
  readonly job_kind: JobKind;
  /** Its name in an offer. Absent: it is named by its field. */
  readonly offered_as?: string;
  /** Null in the list of paid operations if the price depends on the request; the charging code states it then. */
  readonly price_atomic: AtomicAmount | null;
  /** Payee on its only network. Absent: this service. */
  readonly pay_to?: string;
  readonly networks: readonly NetworkName[];
  /** URL at which it is offered, if the offer is made for this request. Absent: the serving code knows it. */
  readonly resource?: string | undefined;
  /** Seconds from now for which its payment may be valid at most. Absent: the maximum of all payments. */
  readonly validity_seconds_max?: number;
  /** Whether its price is held against the book's ceiling from the claim on, and the book's policy applies. */
  readonly reserves: boolean;
  /** Amount held, if it is more than the price: the rest of the same purchase is checked only once. */
  readonly reserved_atomic?: AtomicAmount;
  /** For the second of two payments: names of the sessions whose caps already count both. */
  readonly held_under?: readonly string[];
  /** Kinds of key that are accepted instead of its payment. */
  readonly stand_ins: readonly WaivingKey[];
  /** Intent, attempt and parent as the request names them. Stored in the row. */
  intent?(args: A): NamedIntent;
  /** The model as the request names it. Stored in the row of a call that its book refuses. */
  model?(args: A): string | null;
  /**
   * Ids of the models one of which will answer, by whatever alias the request names them, for the book's policy.
   * Absent: no model is involved, and a list of allowed models does not limit the operation.
   */
  models?(args: A): readonly string[];
  /** Ids of the models that svc/auto could choose for these arguments, whichever model they name. A grant of svc/auto allows these. */
  auto_models?(args: A): readonly string[];
  /**
   * The arguments to which the previous version would have bound a payment, if it left something out. Null if it left out nothing. Absent:
   * it bound the same arguments as this version.
   */
  former_args?(args: A): JsonObject | null;
  /**
   * Last check before the claim, with the payer proven. If it throws a Refusal, the payment stays usable. It reserves nothing: what must be
   * unique needs a slot. `payer` is null if a key is used instead of a payment.
   */
  admit?(args: A, payer: Payer | null, context: Context): Promise<void>;
  /** Names that only one live claim may hold ("wallet:0x…"), taken in the claim's own transaction. */
  slots?(args: A, payer: Payer): readonly string[];
  /** Error for a caller whose slot is taken by another payment. */
  readonly slot_taken?: ErrorCode;
  /** Seconds after which to retry, if the slot may be free by then. */
  readonly slot_retry_seconds?: number;
  /** Book of the row. Absent: the book of the session, or else that of the payer. It does not check the money. */
  book?(args: A, payer: Payer, context: Context): Promise<AgentId | null>;
}

/** The work is done first. The payment settles only if there is an answer. */
export interface WorkThenSettle<A extends JsonObject, T extends JsonObject> extends SoldOperation<A> {
  readonly order: 'work_then_settle';
  /** If it throws a Refusal (`hub_failed`), nothing is charged. */
  work(args: A, task_id: TaskId, context: Context, bounds: WorkBounds): Promise<Work<T>>;
}

/** The stream of the work begins, then the payment settles, and only then is the answer sent on as it arrives. */
export interface Stream<A extends JsonObject, T extends JsonObject> extends SoldOperation<A> {
  readonly order: 'stream';
  /** Resolves when the first piece has arrived, within the bounds. If it throws a Refusal (`hub_failed`), nothing is charged. */
  open(args: A, task_id: TaskId, context: Context, bounds: WorkBounds): Promise<StreamedWork<T>>;
  /** Content of a stored answer, to be streamed again: one piece for each channel. */
  piecesOf(answer: T): readonly Piece[];
}

/** The payment settles first; its effect is written in the transaction that records it, so it cannot be lost. */
export interface Stamp<A extends JsonObject, T extends JsonObject, F extends JsonObject = JsonObject>
  extends SoldOperation<A> {
  readonly order: 'stamp';
  readonly route: Route;
  /**
   * Set if its receipt signs book and payment together (book_chain). `off_book`: it counts against nothing, and has no row of its own on
   * the book. `on_book`: it has a row like any call.
   */
  readonly chained?: 'off_book' | 'on_book';
  /**
   * The second of two payments for one request. Proof and Idempotency-Key come with both and belong to the first, which
   * is final before this one is requested.
   */
  readonly after_first?: true;
  /**
   * Reads other sources under the claim, before any money moves. The result is encrypted with the claim when the payment is sent, and row
   * and effect are made from that alone, by any process. If it throws a Refusal, nothing is charged.
   */
  find?(args: A, payer: Payer | null, context: Context, bounds: WorkBounds): Promise<StampFact<F>>;
  /** The row, with a receipt of its own, that it adds besides its effect. Pure. */
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
  /**
   * Runs inside the transaction that releases the held payment, because the chain does not have it. The payment must then be made again.
   */
  onRelease(tx: Tx, args: A, task_id: TaskId): void;
  /**
   * Slot of the second payment: while it is held, no other second payment is requested, and the stored state stays as
   * it is.
   */
  second_slot(args: A): string;
}

/** An operation paid for in two parts. The second requests nothing that the first has not, and is recorded for both. */
export interface TwoLegs<A extends JsonObject, T extends JsonObject> {
  /** Slot of the first payment, which is kept for as long as that payment may still move (receipt/claim/slots.ts). */
  readonly slot: string;
  readonly first: Leg<A>;
  readonly second: Stamp<A, T>;
  /** Result of both payments, returned for good to a caller that sends one of them or none. */
  readonly brought: T | null;
  /** Error for a caller that sends another payment then. */
  readonly brought_already: ErrorCode;
  /** Why this request can pay nothing. Null if it can. Returned with what is known of a payment that the request carries. */
  readonly refused: Refusal | null;
}

/** Sold as one answer that is not streamed. */
export type Whole<A extends JsonObject, T extends JsonObject> = WorkThenSettle<A, T> | Stamp<A, T>;
export type AnswerSale<A extends JsonObject, T extends JsonObject> = Whole<A, T> | Stream<A, T>;

/** Any paid field, for code that charges independently of what is sold. */
export type AnyPaid = AnswerSale<JsonObject, JsonObject> | Leg<JsonObject>;
export type AnyWhole = Whole<JsonObject, JsonObject>;
export type AnyStream = Stream<JsonObject, JsonObject>;
