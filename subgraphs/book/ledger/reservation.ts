import type { AtomicAmount } from '../../../schema/amount.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Approval } from '../../../schema/policy-rule.ts';
import type { RequestedCall } from '../../requested-call.ts';

/** Amount that is reserved on a book. */
export interface Reservation {
  readonly agent_id: AgentId;
  readonly amount: AtomicAmount;
}

/** Facts of the payment to which an approval is bound. */
export interface CallPayment {
  readonly claim_key: string;
  readonly request_hash: string;
  /** Delegated session of the payment. Null if the payment belongs to no session. */
  readonly session: {
    readonly delegation_hash: string;
    readonly path: readonly string[];
    readonly agent_address: string;
  } | null;
  /** Seals the text that the approver is shown, for the approval request with this id. */
  sealText(approval_id: string): Buffer;
}

/** Call that requests a reservation, with the facts of the row that is written if the call is refused. */
export interface ReservationRequest extends Omit<Reservation, 'amount'>, RequestedCall {
  /** Null for an act, and if an API key is used instead of a payment. */
  readonly amount: AtomicAmount | null;
  readonly task_id: string;
  /** Null if an API key is used, because a key names no wallet. */
  readonly payer_wallet: string | null;
  /** True if a third party has already submitted the payment. The call is then owed and cannot be refused. */
  readonly owed: boolean;
  /** Act that approves the call. Null or absent if the request has none. */
  readonly approval?: Approval | null;
  /** Absent for an act and for an API key, which cannot request an approval. */
  readonly payment?: CallPayment;
  /** True for an act of a delegated session, which costs neither work nor money. */
  readonly act?: boolean;
}
