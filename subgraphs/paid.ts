import type { AtomicAmount } from '../schema/amount.ts';
import type { JsonObject } from '../schema/canonical-json.ts';
import type { ErrorCode } from '../schema/errors.ts';
import type { AgentId, TaskId } from '../schema/ids.ts';
import type { NetworkName } from '../schema/network.ts';
import type { Context } from './context.ts';
import type { Tx } from './database.ts';

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
}

/** What a stamp's commit is told: the money has moved, and this is the row it will stand on. */
export interface Stamped {
  readonly task_id: TaskId;
  readonly payer: Payer;
  readonly agent_id: AgentId | null;
  readonly payment_ref: string;
}

export type Order = 'work_then_settle' | 'stream' | 'stamp';

/** Whether an order holds its price on the book's ceiling from the claim on. */
export const orders: Record<Order, { readonly reserves: boolean }> = {
  work_then_settle: { reserves: true },
  stream: { reserves: true },
  /** It may open the very book that it lands on: there is nothing yet to hold it against. */
  stamp: { reserves: false },
};

interface Sold<A extends JsonObject> {
  /** Coordinate of the paid field; with the canonical arguments it is what a payment is bound to. */
  readonly field: `Mutation.${string}`;
  readonly job_kind: JobKind;
  readonly price_atomic: AtomicAmount;
  readonly networks: readonly NetworkName[];
  /** Intent and attempt as the request names them: they stand on the row. */
  intent?(args: A): { intent_id: string | null; attempt_index: number | null };
  /**
   * Last word before the claim, with the payer proven: throws a Refusal, and the payment stays usable.
   * Nothing that it finds free may be relied on later: what must be unique is a slot.
   */
  admit?(args: A, payer: Payer, context: Context): Promise<void>;
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
  /** Throws a Refusal (`hub_failed`) and nothing is charged. */
  work(args: A, task_id: TaskId, context: Context): Promise<Work<T>>;
}

/** The payment settles first; its effect is written in the transaction that records it, so it cannot be lost. */
export interface Stamp<A extends JsonObject, T extends JsonObject> extends Sold<A> {
  readonly order: 'stamp';
  readonly route: Route;
  /** Runs inside the recording transaction, also by reconcile after a crash: no I/O but `tx`, no caller's context. */
  commit(tx: Tx, args: A, stamped: Stamped): Promise<T>;
}

export type Paid<A extends JsonObject, T extends JsonObject> = WorkThenSettle<A, T> | Stamp<A, T>;

export interface Charged<T extends JsonObject> {
  readonly answer: T;
  readonly task_id: TaskId;
  /** `idempotent_replay`: the same payment and request came again; same signed bytes, no second charge. */
  readonly settlement_status: 'settled' | 'idempotent_replay';
}

/**
 * Sells one field: verify, claim and reserve, work, settle, record, in the order that `paid` names.
 * `args` are the canonical coerced arguments. Throws Refusals that a caller can act on (`payment_required` carries the
 * offer); anything else is a fault of ours.
 */
export type Charge = <A extends JsonObject, T extends JsonObject>(
  paid: Paid<A, T>,
  args: A,
  context: Context,
) => Promise<Charged<T>>;
