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
import type { Found, StampedRow } from './stamped-row.ts';

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

/** Which model answered, and where. */
export interface Route {
  readonly model: string;
  readonly hub: string;
  /** The model that the hub named in its answer; null or left out where it named none. */
  readonly answered_model?: string | null;
  /**
   * The id of the hub's catalogue that `answered_model` names, by its configuration now: `model` itself, of which it is an alias, or
   * another one. Null or left out where it names none, and where it is `model` with nothing but a version added.
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
  /** It lies with whoever made it, and is fetched from there: by the caller himself, whom `vendor_blind` hides no longer. */
  readonly fetched_there?: boolean;
}

/**
 * Why a receipt commits to no output: the money is proven, the output is not. `process_ended` is our doing, by a crash or
 * by a stop that could wait no longer: then no answer is kept, and the next resend is worked for. `no_input`: a task was
 * taken on, and nothing was put to anybody yet. `hub_broke_off` is of a request that its hub refused on the way, too, and of a limit of
 * ours: those two bring no rerun.
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
export interface Speaking<T extends JsonObject> {
  readonly route: Route;
  /** The answer without what is said: what is known of it before it is spoken. */
  readonly begun: T;
  /**
   * What is said as it comes, the first piece first. Ends where it ends, breaks off or grows too long; never throws.
   * As long as nobody reads on, whoever speaks is not listened to.
   */
  readonly pieces: AsyncIterable<Piece>;
  /** All that was said, once the pieces have ended. */
  spoken(): Work<T>;
  /** Stops listening: the pieces end. */
  cancel(): void;
}

/** What a stamp's commit is told: the money has moved, or a key stood in for it, and this is recorded now. */
export interface Stamped {
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
  /** Ids of the models that may answer, as the book has it; null where it does not say, or there is no book. */
  readonly allowed_models: readonly string[] | null;
  /** Aborted once its buyer wants it no longer: whoever is asked for it is hung up on. Left out: nobody can say so. */
  readonly canceled?: AbortSignal;
}

interface Sold<A extends JsonObject> {
  /** Coordinate of the paid field; with the canonical arguments it is what a payment is bound to. */
  readonly field: `Mutation.${string}` | `Subscription.${string}`;
  readonly job_kind: JobKind;
  /** What an offer calls it; left out: by its field. */
  readonly offered_as?: string;
  /** Null in the list of what is sold where it depends on what is asked for: who charges says it then. */
  readonly price_atomic: AtomicAmount | null;
  /** Whom it pays, on its only network; left out: this service. */
  readonly pay_to?: string;
  readonly networks: readonly NetworkName[];
  /** The URL at which it is offered, where the offer is made for this very request; left out: whoever serves it knows. */
  readonly resource?: string | undefined;
  /** For how long from now on its payment may be valid; left out: as long as any. */
  readonly validity_seconds_max?: number;
  /** Whether it holds its price on the book's ceiling from the claim on, and the book is asked. */
  readonly reserves: boolean;
  /** What it holds there where that is more than its price: what is still to be paid for the same is asked for only once. */
  readonly reserved_atomic?: AtomicAmount;
  /** Of the second of two payments: names of the sessions on whose caps the first has counted both. */
  readonly held_under?: readonly string[];
  /** The kinds of key that may stand in for its payment. */
  readonly stand_ins: readonly WaivingKey[];
  /** Intent, attempt and parent as the request names them: they stand on the row. */
  intent?(args: A): NamedIntent;
  /** The model as the request names it: it stands on the row of a call that its book refuses. */
  model?(args: A): string | null;
  /**
   * Ids of the models one of which will answer, whatever alias the request names: the book is asked about them. Without it
   * no model is involved, and a book that allows some models alone does not limit it.
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
  /** What a caller is told whose slot another payment holds. */
  readonly slot_taken?: ErrorCode;
  /** And when to ask again, where it may be free by then. */
  readonly slot_retry_seconds?: number;
  /** The book on which the row lands; without it the session's, or else the payer's. Never looks at the money. */
  book?(args: A, payer: Payer, context: Context): Promise<AgentId | null>;
}

/** The work is done first; the payment settles only for an answer in hand. */
export interface WorkThenSettle<A extends JsonObject, T extends JsonObject> extends Sold<A> {
  readonly order: 'work_then_settle';
  /** Throws a Refusal (`hub_failed`) and nothing is charged. */
  work(args: A, task_id: TaskId, context: Context, bounds: WorkBounds): Promise<Work<T>>;
}

/** The work begins to speak, then the payment settles, and only then does the text go out while it is being spoken. */
export interface Stream<A extends JsonObject, T extends JsonObject> extends Sold<A> {
  readonly order: 'stream';
  /** Resolves with the first piece in hand, in time. Throws a Refusal (`hub_failed`) and nothing is charged. */
  open(args: A, task_id: TaskId, context: Context, bounds: WorkBounds): Promise<Speaking<T>>;
  /** What an answer that was kept says, to be streamed once more: one piece of each channel. */
  piecesOf(answer: T): readonly Piece[];
}

/** The payment settles first; its effect is written in the transaction that records it, so it cannot be lost. */
export interface Stamp<A extends JsonObject, T extends JsonObject, F extends JsonObject = JsonObject> extends Sold<A> {
  readonly order: 'stamp';
  readonly route: Route;
  /**
   * Its receipt signs book and payment side by side (book_chain). `off_book`: it counts against nothing, and no row of the book is
   * its own; `on_book`: it is a row as any call's.
   */
  readonly chained?: 'off_book' | 'on_book';
  /**
   * The second of two payments for one request: a proof and an Idempotency-Key come with both, and are of the first, which stands
   * for good before this one is asked for.
   */
  readonly after_first?: true;
  /**
   * Looks elsewhere under the claim, before any money moves. What it finds is sealed with the claim as the payment is sent:
   * row and effect are made from that alone, by whichever process gets there. Throws a Refusal and nothing is charged.
   */
  find?(args: A, payer: Payer | null, context: Context, bounds: WorkBounds): Promise<Found<F>>;
  /** What it is bought for, beside its effect: a row with a receipt of its own. Pure. */
  row?(args: A, fact: F, stamped: Omit<Stamped, 'recorded_at_ms'>): StampedRow;
  /** Runs inside the recording transaction, also by reconcile after a crash: no I/O but `tx`, no caller's context. */
  commit(tx: Tx, args: A, stamped: Stamped, fact: F | null): Promise<T>;
}

/**
 * The first of two payments: its money goes to somebody else, and is `held` as moved, without a receipt, until its sibling's has
 * moved, too. Its payee could submit what we have let go of: so its slots stay with it until the chain is done with it.
 */
export interface Leg<A extends JsonObject> extends Sold<A> {
  readonly order: 'leg';
  readonly route: Route;
  /** Runs inside the transaction that holds it, also by reconcile after a crash. Never refuses: the money has moved. */
  kept(tx: Tx, args: A, kept: { readonly task_id: TaskId; readonly payment_ref: string }): void;
  /** Runs inside the transaction that lets go of what was kept, as the chain does not have it: it is to be paid again. */
  lost(tx: Tx, args: A, task_id: TaskId): void;
  /** The slot of its sibling: while that is held nobody else is asked for it, and what was kept stays as it is. */
  second_slot(args: A): string;
}

/** What is paid for in two: the second asks for nothing that the first has not, and is recorded for both. */
export interface TwoLegs<A extends JsonObject, T extends JsonObject> {
  /** The slot of the first, which it keeps for as long as it may still move (receipt/claim/slots.ts). */
  readonly slot: string;
  readonly first: Leg<A>;
  readonly second: Stamp<A, T>;
  /** What both have brought already: given again to whoever shows one of them or nothing, for good. */
  readonly brought: T | null;
  /** What whoever shows another payment is told then. */
  readonly brought_already: ErrorCode;
  /** Why nothing can be paid by this request; it is said with what is known of a payment that came along. */
  readonly refused: Refusal | null;
}

/** Sold as one answer, in one piece. */
export type Whole<A extends JsonObject, T extends JsonObject> = WorkThenSettle<A, T> | Stamp<A, T>;
export type Paid<A extends JsonObject, T extends JsonObject> = Whole<A, T> | Stream<A, T>;

/** Any paid field: who charges for it does not care what is sold. */
export type AnyPaid = Paid<JsonObject, JsonObject> | Leg<JsonObject>;
export type AnyWhole = Whole<JsonObject, JsonObject>;
export type AnyStream = Stream<JsonObject, JsonObject>;
