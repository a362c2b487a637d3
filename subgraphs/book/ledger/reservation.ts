import type { AtomicAmount } from '../../../schema/amount.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Approval } from '../../../schema/policy-rule.ts';
import type { RequestedCall } from '../../requested-call.ts';

/** An amount reserved on a book. */
export interface Reservation {
  readonly agent_id: AgentId;
  readonly amount: AtomicAmount;
}

/** Members of the payment that an approval is bound to. */
export interface CallPayment {
  readonly claim_key: string;
  readonly request_hash: string;
  /** Delegated session of the payment. Null if there is none. */
  readonly session: {
    readonly delegation_hash: string;
    readonly path: readonly string[];
    readonly agent_address: string;
  } | null;
  /** Seals the text shown to the approver, for the request with this id. */
  sealText(approval_id: string): Buffer;
}

/** A call that requests a reservation, with the facts of its row if it is refused. */
export interface ReservationRequest extends Omit<Reservation, 'amount'>, RequestedCall {
  /** Null if an API key is used instead of a payment. */
  readonly amount: AtomicAmount | null;
  readonly task_id: string;
  /** Null together with the amount, because a key names no wallet. */
  readonly payer_wallet: string | null;
  /** True if somebody else has submitted the payment. Nothing can be refused then, and the call is owed. */
  readonly owed: boolean;
  /** The act that approves it. Absent if none was sent. */
  readonly approval?: Approval | null;
  /** Absent for an API key. No approval can be requested then. */
  readonly payment?: CallPayment;
  /** True for an act of a session, which needs neither work nor money. */
  readonly act?: boolean;
}
