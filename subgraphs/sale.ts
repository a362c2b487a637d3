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

/* What a paid field declares about its sale, for `charge(paid, args, context)`: price, order, networks, slots, and its work. */

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
   * Id in the hub's catalogue that `answered_model` names under the current configuration: `model` itself, if `answered_model` is an alias
   * of it, or another id. Null or absent if it names no id, or if it is `model` with only a version added.
   */
  readonly answered_catalogue_model?: string | null;
}

/**
 * Result of the work. `answer` is the domain value: it is stored encrypted for redelivery, and each response contains its selected fields.
 */
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
  /** Whether the caller fetches the output from the hub itself. The hub then sees the caller, so `vendor_blind` no longer applies. */
  readonly fetched_there?: boolean;
}

/**
 * Why a receipt commits to no output: it then proves the payment, but not the output. `process_ended`: this service crashed or was stopped;
 * no answer is kept, and the work is done again when the payment is sent again. `no_input`: a task was accepted and no hub was called yet.
 * `hub_broke_off` also covers a request that its hub refused during the answer, and a limit of this service; these two allow no rerun.
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
   * Pieces as they arrive, in order. The iteration ends when the answer ends, breaks off or grows too long, and never throws. The hub is
   * read only as far as the pieces are read.
   */
  readonly pieces: AsyncIterable<Piece>;
  /** The complete work, after the pieces have ended. */
  finishedWork(): Work<T>;
  /** Stops reading the answer, which ends the pieces. */
  cancel(): void;
}

/** Facts for the commit of a stamp. By then the money has moved, or an API key was used, and this is recorded in the same transaction. */
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
/** Keys that are accepted instead of a payment for work. */
export const CALL_KEYS = ['live', 'demo'] as const satisfies readonly WaivingKey[];

/** Limits of the work. */
export interface WorkBounds {
  /** Time by the context's clock after which the work is useless, because the payment could no longer be settled for it. */
  readonly until_ms: number;
  /** Ids of the models that may answer under the book's policy. Null if it does not limit them, or if there is no book. */
  readonly allowed_models: readonly string[] | null;
  /** Aborted once the buyer cancels, so that the request to the hub is closed. Absent if this cannot be detected. */
  readonly canceled?: AbortSignal;
}

interface SoldOperation<A extends JsonObject> {
  /** Coordinate of the paid field. A payment is bound to it and to the canonical arguments. */
  readonly field: `Mutation.${string}` | `Subscription.${string}`;
  readonly job_kind: JobKind;
  /** Name of the operation in an offer. Absent: it is named by its field. */
  readonly offered_as?: string;
  /**
   * Price in atomic units. Null in the list of paid operations if the price depends on the request; it is then set when the request is
   * charged.
   */
  readonly price_atomic: AtomicAmount | null;
  /** Payee, for an operation that is offered on one network only. Absent: this service. */
  readonly pay_to?: string;
  readonly networks: readonly NetworkName[];
  /**
   * URL at which the operation is offered, if the offer is made for this request alone. Absent: the code that serves the request supplies
   * the URL.
   */
  readonly resource?: string | undefined;
  /** Maximum number of seconds, from now, for which its payment may be valid. Absent: the maximum of all payments. */
  readonly validity_seconds_max?: number;
  /** Whether its price is reserved against the book's budget from the claim on, and the book's policy is checked. */
  readonly reserves: boolean;
  /** Amount that is reserved, if it is more than the price. It covers the rest of the same purchase, which is not checked again. */
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
   * Ids of the models of which one will answer, for the book's policy. They are ids even if the request names an alias. Absent: no model is
   * involved, and a list of allowed models does not limit the operation.
   */
  models?(args: A): readonly string[];
  /** Ids of the models that svc/auto could choose for these arguments, whichever model they name. A grant of svc/auto allows these. */
  auto_models?(args: A): readonly string[];
  /**
   * The arguments to which the previous version would have bound a payment, if it left something out. Null if it left nothing out. Absent:
   * it bound the same arguments as this version.
   */
  former_args?(args: A): JsonObject | null;
  /**
   * Last check before the claim, when the payer is proven. If it throws a Refusal, the payment stays usable. It reserves nothing: what must
   * be unique needs a slot. `payer` is null if a key is used instead of a payment.
   */
  admit?(args: A, payer: Payer | null, context: Context): Promise<void>;
  /** Names that only one live claim may hold ("wallet:0x…"), taken in the claim's own transaction. */
  slots?(args: A, payer: Payer): readonly string[];
  /** Error for a caller whose slot is taken by another payment. */
  readonly slot_taken?: ErrorCode;
  /** Seconds after which to retry, if the slot may be free by then. */
  readonly slot_retry_seconds?: number;
  /**
   * Returns the book to which the row is added. It does not check the payment. Absent: the book of the session, or else that of the payer.
   */
  book?(args: A, payer: Payer, context: Context): Promise<AgentId | null>;
}

/** The work is done first. The payment settles only if there is an answer. */
export interface WorkThenSettle<A extends JsonObject, T extends JsonObject> extends SoldOperation<A> {
  readonly order: 'work_then_settle';
  /** Does the work. If it throws a Refusal (`hub_failed`), nothing is charged. */
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

/** The payment settles first. Its effect is written in the transaction that records the payment, so the effect cannot be lost. */
export interface Stamp<A extends JsonObject, T extends JsonObject, F extends JsonObject = JsonObject>
  extends SoldOperation<A> {
  readonly order: 'stamp';
  readonly route: Route;
  /**
   * Set if the receipt signs book and payment together (book_chain). `off_book`: the payment counts against nothing, and has no row on the
   * book. `on_book`: it has a row like any call.
   */
  readonly chained?: 'off_book' | 'on_book';
  /**
   * Set for the second of two payments for one request. Proof and Idempotency-Key are sent with both payments and belong to the first,
   * which is final before the second is requested.
   */
  readonly after_first?: true;
  /**
   * Reads other sources under the claim, before any money moves. The result is encrypted with the claim when the payment is sent. From that
   * result alone, any process can make the row and the effect. If it throws a Refusal, nothing is charged.
   */
  find?(args: A, payer: Payer | null, context: Context, bounds: WorkBounds): Promise<StampFact<F>>;
  /** Makes the row that is added besides the effect of the stamp, and that has its own receipt. Pure. */
  row?(args: A, fact: F, stamped: Omit<StampContext, 'recorded_at_ms'>): StampedRow;
  /**
   * Runs inside the transaction that records the payment; after a crash, reconcile runs it. It does no I/O except through `tx`, and must
   * not need the caller's context.
   */
  commit(tx: Tx, args: A, stamped: StampContext, fact: F | null): Promise<T>;
}

/**
 * The first of two payments, which goes to another party. After it has moved it is `held`, without a receipt, until the second payment has
 * moved. Its payee could still submit a payment that was released, so its slots are kept until the chain rules that out.
 */
export interface Leg<A extends JsonObject> extends SoldOperation<A> {
  readonly order: 'leg';
  readonly route: Route;
  /**
   * Runs inside the transaction that marks the payment as held; after a crash, reconcile runs it. It never refuses, because the money has
   * moved.
   */
  onHold(tx: Tx, args: A, kept: { readonly task_id: TaskId; readonly payment_ref: string }): void;
  /**
   * Runs inside the transaction that releases the held payment, because the chain does not have it. The payment must then be made again.
   */
  onRelease(tx: Tx, args: A, task_id: TaskId): void;
  /**
   * Slot of the second payment. While a payment has this slot, no other second payment is requested, and the stored state does not change.
   */
  second_slot(args: A): string;
}

/** An operation that is paid for with two payments. The second requests nothing that the first does not, and its record covers both. */
export interface TwoLegs<A extends JsonObject, T extends JsonObject> {
  /** Slot of the first payment, which is kept for as long as that payment may still move (receipt/claim/slots.ts). */
  readonly slot: string;
  readonly first: Leg<A>;
  readonly second: Stamp<A, T>;
  /**
   * Result of both payments, once both have moved. From then on, a caller that sends either payment again, or none, receives this result.
   * Null before.
   */
  readonly brought: T | null;
  /** Error for a caller that sends another payment after both have moved. */
  readonly brought_already: ErrorCode;
  /** Why this request cannot pay. Null if it can. It is returned together with what is known about a payment that the request carries. */
  readonly refused: Refusal | null;
}

/** A paid field that is sold as one answer, not streamed. */
export type Whole<A extends JsonObject, T extends JsonObject> = WorkThenSettle<A, T> | Stamp<A, T>;
export type AnswerSale<A extends JsonObject, T extends JsonObject> = Whole<A, T> | Stream<A, T>;

/** Any paid field, for code that charges independently of what is sold. */
export type AnyPaid = AnswerSale<JsonObject, JsonObject> | Leg<JsonObject>;
export type AnyWhole = Whole<JsonObject, JsonObject>;
export type AnyStream = Stream<JsonObject, JsonObject>;
