import type { AtomicAmount } from '../../../schema/amount.ts';
import type { AgentId } from '../../../schema/ids.ts';

/** Money held on a book. */
export interface Reservation {
  readonly agent_id: AgentId;
  readonly amount: AtomicAmount;
}

/** A call that wants its price held, with what the row says of it if the book refuses. */
export interface ReservationRequest extends Omit<Reservation, 'amount'> {
  /** Null where no money is asked for: a key stands in for the payment. */
  readonly amount: AtomicAmount | null;
  readonly task_id: string;
  /** Null with the amount: a key names no wallet. */
  readonly payer_wallet: string | null;
  /** As the request names it. */
  readonly model: string | null;
  /** Ids of the models one of which will answer; empty where none is involved, as for a call that no model answers. */
  readonly models: readonly string[];
  /** Coordinate of the paid field: what its operation is called is read off it. */
  readonly field: string;
  readonly intent_id: string | null;
  readonly attempt_index: number | null;
  /** The task of the row that it follows from. */
  readonly parent_ref: string | null;
  /** The money has moved already, by somebody else's doing: nothing is left to refuse, and the call is owed. */
  readonly owed: boolean;
}
