import type { AtomicAmount } from '../../../schema/amount.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Approval } from '../../../schema/policy-rule.ts';
import type { RequestedCall } from '../../requested-call.ts';

/** Money held on a book. */
export interface Reservation {
  readonly agent_id: AgentId;
  readonly amount: AtomicAmount;
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
}
