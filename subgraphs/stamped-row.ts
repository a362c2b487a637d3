import type { AtomicAmount } from '../schema/amount.ts';
import type { InitialFacts } from '../schema/book-row.ts';
import type { JsonObject } from '../schema/canonical-json.ts';
import type { AgentId, TaskId } from '../schema/ids.ts';
import type { ObservedTransfer } from '../schema/observed-transfer.ts';
import type { ReceiptLeg, ReceiptPayment } from '../schema/receipt-shapes.ts';

/** Facts that a stamp has read from other sources before any money moved. */
export interface StampFact<F extends JsonObject> {
  readonly fact: F;
  /** Names that only one live claim may hold, like `slots` of a paid field. They are taken before the payment is sent. */
  readonly slots: readonly string[];
}

/** What the receipt of a stamped row signs about the payment. */
export type StampedMoney =
  /** A payment to another party that its chain shows, and whether its payer is known to be the agent. */
  | { readonly kind: 'observed'; readonly observed_transfer: ObservedTransfer; readonly payer_proven: boolean }
  /** The first of two payments that were made through this service (`payment`), and both payments (`legs`). */
  | { readonly kind: 'paid'; readonly payment: ReceiptPayment; readonly legs: readonly ReceiptLeg[] };

/**
 * A row about a payment to another party, and its receipt, which a stamp buys. Both are made, hashed and signed before the log's head is
 * locked, only from what was sealed with the claim.
 */
export interface StampedRow {
  readonly task_id: TaskId;
  readonly agent_id: AgentId;
  readonly birth: InitialFacts;
  /** Amount that is reserved on the book for the payment. The reservation is released when the row is added. */
  readonly reserved_atomic: AtomicAmount;
  /** Rows on other books with the same receipt. */
  readonly also_on: readonly { readonly agent_id: AgentId; readonly birth: InitialFacts }[];
  /** Claim key of the held payment that this row records. Null if the payment was not claimed here. */
  readonly sibling: string | null;
  readonly receipt: {
    readonly hub: string;
    readonly model: string;
    readonly job_kind: string;
    readonly intent_id: string | null;
    readonly attempt_index: number | null;
    readonly fulfillment: JsonObject;
    readonly money: StampedMoney;
  };
}
