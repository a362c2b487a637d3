import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { ObservedTransfer } from '../../../schema/observed-transfer.ts';
import type { SettledBy, WaivedBy } from '../../../schema/receipt-payload.ts';
import type { ProviderCogs, ReceiptLeg, ReceiptPayload, ReceiptPayment } from '../../../schema/receipt-shapes.ts';
import type { WorkReport, WorkReportParties } from '../../../schema/router/work-report.ts';

/** What a book chain signs about the payment: a transfer as its chain shows it, and whether its payer is known to be the book's agent. */
interface ChainedPayment {
  readonly observed_transfer: ObservedTransfer;
  readonly payer_proven: boolean;
}

/** Delegated session under which a call was paid, or another act was done. Times are Unix seconds. */
export type SessionFacts = Required<Pick<ReceiptPayload, 'delegation_hash' | 'valid_after' | 'session_expiry'>>;

/** Everything that a receipt states about a call before it has a position in the log. */
export interface ReceiptFacts {
  readonly task_id: string;
  /** Time of issue (ISO 8601). */
  readonly issued_at: string;
  readonly hub: string;
  readonly model: string;
  readonly job_kind: string;
  readonly request_hash: string;
  /** Agent of the book on which the row is recorded. Null if there is no book. */
  readonly agent_id: number | null;
  readonly caller_binding: ReceiptPayload['caller_binding'];
  readonly intent_id: string | null;
  readonly attempt_index: number | null;
  /** Model that the hub named in its answer. Null or absent if it named none. */
  readonly answered_model?: string | null;
  /**
   * Id in the hub's catalogue that `answered_model` names, if that does not follow from `model` and `answered_model`: see
   * subgraphs/sale.ts.
   */
  readonly answered_catalogue_model?: string | null;
  readonly vendor_blind?: boolean;
  /** Cost of the work to this service. Null or absent if no price is known. */
  readonly provider_cogs?: ProviderCogs | null;
  /** Signed as a `Fulfillment`. */
  readonly fulfillment: JsonObject;
  /** How the payment was settled. Null if nothing was to be settled. */
  readonly settled_by: SettledBy | null;
  readonly payment: ReceiptPayment | null;
  /** Both payments of a call that was paid for with two, `payment` first. Absent otherwise. */
  readonly legs?: readonly ReceiptLeg[] | null;
  /**
   * For lanes without a `payment` (foreign ingest, Nano, stamps under the book chain): the transfer whose reference is
   * signed beside the book, which is required. Absent otherwise.
   */
  readonly chained?: ChainedPayment | null;
  /** The kind of key that was used in place of a payment. Absent if none was. */
  readonly waived_by?: WaivedBy | null;
  /** Report of a generation that another party answered. Absent if there is none. */
  readonly reported?: WorkReport | null;
  /** Payer and payee of a reported completion. Absent otherwise. */
  readonly reported_parties?: WorkReportParties | null;
  /** Delegated session of the call. Absent if there is none. Its `agent_pubkey` is in the caller binding. */
  readonly session?: SessionFacts | null;
  /** For a receipt that was handed to another agent: the receipt that it was made from, and that agent. Absent otherwise. */
  readonly handed?: { readonly parent_receipt_id: string; readonly target_agent: number } | null;
  readonly profile: 'development' | 'production';
  /** Number of the development chain that carried the payment. 0 if unset. */
  readonly chain_epoch?: number;
}
