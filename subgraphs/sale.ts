import type { AtomicAmount } from '../schema/amount.ts';
import type { JsonObject } from '../schema/canonical-json.ts';
import type { ErrorCode } from '../schema/errors.ts';
import type { AgentId, TaskId } from '../schema/ids.ts';
import { limits } from '../schema/limits.ts';
import type { NetworkName } from '../schema/network.ts';
import type { ProviderCogs } from '../schema/receipt-payload.ts';
import type { NamedIntent } from '../schema/requests/paid-work.ts';
import type { Context } from './context.ts';
import type { Tx } from './database.ts';
import type { Piece } from './piece.ts';

/*
 * What a paid field declares of its sale, for `charge(paid, args, context)`: price, order, networks, slots, and its
 * work.
 */

/** Who paid, as the payment itself proves it. The wallet is in the chain's own spelling (EIP-55 on Base). */
export interface Payer {
  readonly network: NetworkName;
  readonly wallet: string;
}

export type JobKind =
  | 'completions'
  | 'scrape'
  | 'review'
  | 'swap'
  | 'research'
  | 'acp_job'
  | 'router_broadcast'
  | 'other';

/** Which model answered, and where. */
export interface Route {
  readonly model: string;
  readonly hub: string;
}

/** What the work brought. `answer` is the domain value: it is kept sealed for redelivery and projected per selection. */
export interface Work<T extends JsonObject> {
  readonly answer: T;
  readonly route: Route;
  /** SHA-256 hex of the output, committed to in the receipt; null where there is nothing to commit to. */
  readonly output_sha256: string | null;
  /** Why there is nothing to commit to. */
  readonly omission_rule: OmissionRule | null;
  /** What it cost us, where a price is known. */
  readonly provider_cogs?: ProviderCogs | null;
  /** It lies with whoever made it, and is fetched from there: by the caller himself, whom `vendor_blind` hides no longer. */
  readonly fetched_there?: boolean;
}

/**
 * Why a receipt commits to no output: the money is proven, the output is not. `process_ended` is our doing, by a crash or
 * by a stop that could wait no longer: then no answer is kept, and the next resend is worked for. `no_input`: a task was
 * taken on, and nothing was put to anybody yet.
 */
export type OmissionRule = 'no_output' | 'no_input' | 'hub_broke_off' | 'process_ended';

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

/** What a stamp's commit is told: the money has moved, and this is the row it will stand on. */
export interface Stamped {
  readonly task_id: TaskId;
  readonly payer: Payer;
  readonly agent_id: AgentId | null;
  readonly payment_ref: string;
}

export type Order = 'work_then_settle' | 'stream' | 'stamp';

export interface OrderRule {
  /** Whether it holds its price on the book's ceiling from the claim on. */
  readonly reserves: boolean;
  /** Whether a key may stand in for the payment. */
  readonly waivable: boolean;
  /** For how long a payment must still be valid: time to settle it and, before that, to work. */
  readonly validity_seconds_min: number;
}

export const orders: Record<Order, OrderRule> = {
  work_then_settle: {
    reserves: true,
    waivable: true,
    validity_seconds_min: limits.payment_validity_with_work_seconds_min,
  },
  stream: { reserves: true, waivable: true, validity_seconds_min: limits.payment_validity_with_work_seconds_min },
  /** It may open the very book that it lands on: there is nothing yet to hold it against. A key proves no wallet. */
  stamp: { reserves: false, waivable: false, validity_seconds_min: limits.payment_validity_seconds_min },
};

/** Within what work is done. */
export interface WorkBounds {
  /** On the clock of the context: from then on the work is worth nothing, as the payment could not be settled for it. */
  readonly until_ms: number;
  /** Ids of the models that may answer, as the book has it; null where it does not say, or there is no book. */
  readonly allowed_models: readonly string[] | null;
}

interface Sold<A extends JsonObject> {
  /** Coordinate of the paid field; with the canonical arguments it is what a payment is bound to. */
  readonly field: `Mutation.${string}` | `Subscription.${string}`;
  readonly job_kind: JobKind;
  readonly price_atomic: AtomicAmount;
  readonly networks: readonly NetworkName[];
  /** Intent, attempt and parent as the request names them: they stand on the row. */
  intent?(args: A): NamedIntent;
  /** The model as the request names it: it stands on the row of a call that its book refuses. */
  model?(args: A): string | null;
  /**
   * Ids of the models one of which will answer, whatever alias the request names: the book is asked about them. Without it
   * no model is involved, and a book that allows some models alone does not limit it.
   */
  models?(args: A): readonly string[];
  /**
   * Last word before the claim, with the payer proven: throws a Refusal, and the payment stays usable.
   * Nothing that it finds free may be relied on later: what must be unique is a slot.
   * `payer` is null where a key stands in for the payment, as none does for a stamp's.
   */
  admit?(args: A, payer: Payer | null, context: Context): Promise<void>;
  /** Names that only one live claim may hold ("wallet:0x…"), taken in the claim's own transaction. */
  slots?(args: A, payer: Payer): readonly string[];
  /** What a caller is told whose slot another payment holds. */
  readonly slot_taken?: ErrorCode;
  /** The book on which the row lands; without it the session's, or else the payer's. Never looks at the money. */
  book?(args: A, payer: Payer, context: Context): Promise<AgentId | null>;
}

/** The work is done first; the payment settles only for an answer in hand. */
export interface WorkThenSettle<A extends JsonObject, T extends JsonObject> extends Sold<A> {
  readonly order: 'work_then_settle';
  /**
   * Throws a Refusal (`hub_failed`) and nothing is charged.
   */
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

/** What the route of a stamp names in place of a hub: no hub is called so. */
export const STAMPED_BY = 'svc';

/** The payment settles first; its effect is written in the transaction that records it, so it cannot be lost. */
export interface Stamp<A extends JsonObject, T extends JsonObject> extends Sold<A> {
  readonly order: 'stamp';
  readonly route: Route;
  /** No key stands in for its payment: there always is a payer. */
  admit?(args: A, payer: Payer, context: Context): Promise<void>;
  /** Runs inside the recording transaction, also by reconcile after a crash: no I/O but `tx`, no caller's context. */
  commit(tx: Tx, args: A, stamped: Stamped): Promise<T>;
}

/** Sold as one answer, in one piece. */
export type Whole<A extends JsonObject, T extends JsonObject> = WorkThenSettle<A, T> | Stamp<A, T>;
export type Paid<A extends JsonObject, T extends JsonObject> = Whole<A, T> | Stream<A, T>;

/** Any paid field: who charges for it does not care what is sold. */
export type AnyPaid = Paid<JsonObject, JsonObject>;
export type AnyWhole = Whole<JsonObject, JsonObject>;
export type AnyStream = Stream<JsonObject, JsonObject>;

/**
 * `idempotent_replay`: the same payment and request came again; same signed bytes, no second charge. `waived`: a key stood
 * in for the payment, and nothing was charged.
 */
export type SettlementStatus = 'settled' | 'idempotent_replay' | 'waived';

export interface Charged<T extends JsonObject> {
  readonly answer: T;
  readonly task_id: TaskId;
  readonly settlement_status: SettlementStatus;
  /** The receipt's node, as the receipt subgraph made it: it knows its own. */
  readonly receipt: object;
}

/** A stream that is paid for, or waived. It is brought to its end and recorded whether anybody reads it or not. */
export interface ChargedStream<T extends JsonObject> {
  readonly task_id: TaskId;
  readonly settlement_status: SettlementStatus;
  /** `base:0x…`; null where nothing was paid. */
  readonly payment_ref: string | null;
  readonly begun: T;
  /** For one reader. Whoever reads slowly or not at all keeps nobody waiting. */
  readonly pieces: AsyncIterable<Piece>;
  /** Answer and receipt, after the last piece. Rejects with a Refusal where they could not be recorded. */
  readonly recorded: Promise<Charged<T>>;
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
) => Promise<Charged<T>>;

/**
 * The same for what is sold while it is being spoken: resolves once the money has moved, with nothing sent on yet.
 * Until then it throws what `Charge` throws.
 */
export type ChargeStream = <A extends JsonObject, T extends JsonObject>(
  paid: Stream<A, T>,
  args: A,
  context: Context,
) => Promise<ChargedStream<T>>;

/** How a resolver of a paid field sells: what a subgraph that sells something needs of the process. */
export interface Selling {
  readonly charge: Charge;
  readonly chargeStream: ChargeStream;
}
