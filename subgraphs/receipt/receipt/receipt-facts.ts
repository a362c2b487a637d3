import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { ObservedTransfer } from '../../../schema/observed-transfer.ts';
import type { SettledBy, WaivedBy } from '../../../schema/receipt-payload.ts';
import type { ProviderCogs, ReceiptLeg, ReceiptPayload, ReceiptPayment } from '../../../schema/receipt-shapes.ts';
import type { WorkReport, WorkReportParties } from '../../../schema/router/work-report.ts';

/**
 * What a book chain signs of the payment: a transfer as its chain shows it, and whether its payer is known to be the
 * book's agent.
 */
interface ChainedPayment {
  readonly observed_transfer: ObservedTransfer;
  readonly payer_proven: boolean;
}

/** The delegated session that a call was paid under, or an act was done in; times are Unix seconds. */
export type SessionFacts = Required<Pick<ReceiptPayload, 'delegation_hash' | 'valid_after' | 'session_expiry'>>;

/** Everything that a receipt states about a call before it has a place in the log. */
export interface ReceiptFacts {
  readonly task_id: string;
  /** ISO 8601. */
  readonly issued_at: string;
  readonly hub: string;
  readonly model: string;
  readonly job_kind: string;
  readonly request_hash: string;
  /** The book on which the row is recorded; null if there is none. */
  readonly agent_id: number | null;
  readonly caller_binding: ReceiptPayload['caller_binding'];
  readonly intent_id: string | null;
  readonly attempt_index: number | null;
  /** The model that the hub named in its answer; null or absent if it named none. */
  readonly answered_model?: string | null;
  /** The id of the hub's catalogue that this names, if that does not follow from both names: see subgraphs/sale.ts. */
  readonly answered_catalogue_model?: string | null;
  readonly vendor_blind?: boolean;
  /** Null or absent if no price is known. */
  readonly provider_cogs?: ProviderCogs | null;
  /** A `Fulfillment`. */
  readonly fulfillment: JsonObject;
  /** Null if nothing was to be settled. */
  readonly settled_by: SettledBy | null;
  readonly payment: ReceiptPayment | null;
  /** Both payments of a call that was paid for in two, `payment` first. Absent otherwise. */
  readonly legs?: readonly ReceiptLeg[] | null;
  /**
   * For lanes without a `payment` (foreign ingest, Nano, stamps under the book chain): the transfer whose reference is
   * signed beside the book, which is required. Absent otherwise.
   */
  readonly chained?: ChainedPayment | null;
  /** The kind of key that was used in place of a payment. Absent if none was. */
  readonly waived_by?: WaivedBy | null;
  /** The report of a generation that another party answered. Absent if there is none. */
  readonly reported?: WorkReport | null;
  /** For a completion only. Absent otherwise. */
  readonly reported_parties?: WorkReportParties | null;
  /** Absent if there is none; `agent_pubkey` is in the caller binding. */
  readonly session?: SessionFacts | null;
  /** For a receipt handed to another agent: the receipt it was made from, and the agent. Absent otherwise. */
  readonly handed?: { readonly parent_receipt_id: string; readonly target_agent: number } | null;
  readonly profile: 'development' | 'production';
  /** Development chain that carried the payment; 0 if unset. */
  readonly chain_epoch?: number;
}
