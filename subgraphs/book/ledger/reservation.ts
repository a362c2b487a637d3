import type { AtomicAmount } from '../../../schema/amount.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Approval } from '../../../schema/policy-rule.ts';
import type { RequestedCall } from '../../requested-call.ts';

/** Money held on a book. */
export interface Reservation {
  readonly agent_id: AgentId;
  readonly amount: AtomicAmount;
}

/** The payment of a call, as far as an approval of it is bound to it. */
export interface CallPayment {
  readonly claim_key: string;
  readonly request_hash: string;
  /** The delegated session that it is made under; null where there is none. */
  readonly session: {
    readonly delegation_hash: string;
    readonly path: readonly string[];
    readonly agent_address: string;
  } | null;
  /** What a person is shown of it who is to approve it, sealed for the request of that id. */
  sealText(approval_id: string): Buffer;
}

/** A call that wants its price held, with what the row says of it if the book refuses. */
export interface ReservationRequest extends Omit<Reservation, 'amount'>, RequestedCall {
  /** Null where no money is asked for: a key stands in for the payment. */
  readonly amount: AtomicAmount | null;
  readonly task_id: string;
  /** Null with the amount: a key names no wallet. */
  readonly payer_wallet: string | null;
  /** The money has moved already, by somebody else's doing: nothing is left to refuse, and the call is owed. */
  readonly owed: boolean;
  /** The act that came with it and approves it; left out where none did. */
  readonly approval?: Approval | null;
  /** Left out where a key stands in for one: then nobody is asked to approve it. */
  readonly payment?: CallPayment;
  /** It is an act of a session, which asks for no work and no money. */
  readonly act?: boolean;
}
