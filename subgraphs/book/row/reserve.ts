import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import { type AgentId, type RefusalId, refusalId } from '../../../schema/ids.ts';
import { insertRows, type Tx } from '../../database.ts';
import { issueRefusals, type RefusedCall, type Refuser } from '../../receipt/index.ts';
import { type Blocked, evaluate } from '../policy/evaluate.ts';
import { bear, type EventRecord, type Head, type RowBirth, type RowRecord } from './append.ts';
import { booked, countIntents, lockBooks, publish } from './heads.ts';

/* Part of the ledger: what a book lets pass. */

/** Money held on a book. */
export interface Reservation {
  readonly agent_id: AgentId;
  readonly amount: AtomicAmount;
}

/** A call that wants its price held, with what the row says of it if the book refuses. */
export interface Asking extends Omit<Reservation, 'amount'> {
  /** Null where no money is asked for: a key stands in for the payment. */
  readonly amount: AtomicAmount | null;
  readonly task_id: string;
  /** Null with the amount: a key names no wallet. */
  readonly payer_wallet: string | null;
  /** As the request names it. */
  readonly model: string | null;
  readonly intent_id: string | null;
  readonly attempt_index: number | null;
  /** The money has moved already, by somebody else's doing: nothing is left to refuse, and the call is owed. */
  readonly owed: boolean;
}

export type Reserved = { readonly kind: 'reserved' } | { readonly kind: 'blocked'; readonly refusal_id: RefusalId };

const ID_BYTES = 10;

/**
 * Holds money under the book's ceilings until `collect` or `voidReservations`, or refuses: judged item by item in their
 * order, by the database's clock, under the head's lock, so that no interleaving overfills a cap and a kill switch holds
 * from its acknowledgement on. A refusal is a row, an event and a signed document in the same transaction; it is no
 * leaf, so the log's head is never taken here.
 */
export async function reserve(tx: Tx, refuser: Refuser, items: readonly Asking[]): Promise<readonly Reserved[]> {
  const books = await lockBooks(
    tx,
    items.map(item => item.agent_id),
  );
  const rows: RowRecord[] = [];
  const events: EventRecord[] = [];
  const refused: RefusedCall[] = [];
  const outcomes = items.map((item): Reserved => {
    const head = booked(books, item.agent_id);
    const evaluation = item.owed ? ({ kind: 'admitted' } as const) : evaluate(head, item.amount);
    if (evaluation.kind === 'admitted') {
      books.set(item.agent_id, { ...head, reserved_atomic: atomicAmount(head.reserved_atomic + (item.amount ?? 0n)) });
      return { kind: 'reserved' };
    }
    const refusal_id = refusalId(head.now_ms, refuser.random.bytes(ID_BYTES));
    const born = bear(head, blockedBirth(item, evaluation, refusal_id), head.now_ms);
    books.set(item.agent_id, born.head);
    rows.push(born.row);
    events.push(born.event);
    refused.push(refusedCall(item, evaluation, refusal_id, born));
    return { kind: 'blocked', refusal_id };
  });
  insertRows(tx, 'book_row', rows);
  countIntents(tx, rows);
  issueRefusals(tx, refuser, refused);
  publish(tx, books, events);
  return outcomes;
}

/** Gives back what `reserve` held, after a call that came to nothing. */
export async function voidReservations(tx: Tx, items: readonly Reservation[]): Promise<void> {
  // A stamp holds nothing, and the book that it would have opened may not be there.
  const held = items.filter(item => item.amount > 0n);
  const books = await lockBooks(
    tx,
    held.map(item => item.agent_id),
  );
  for (const { agent_id, amount } of held) {
    const head = booked(books, agent_id);
    books.set(agent_id, { ...head, reserved_atomic: atomicAmount(head.reserved_atomic - amount) });
  }
  publish(tx, books, []);
}

/** Nothing was charged, so nothing stands on the row that money would. */
function blockedBirth(item: Asking, blocked: Blocked, refusal_id: RefusalId): RowBirth {
  return {
    task_id: item.task_id,
    evidence: 'policy_blocked',
    collected: false,
    payment_ref: null,
    transfer_index: null,
    rail: null,
    amount: null,
    model: item.model,
    hub: null,
    intent_id: item.intent_id,
    attempt_index: item.attempt_index,
    payer_wallet: item.payer_wallet,
    settled_by: null,
    parent_ref: null,
    recorded_by: null,
    arrival_status: null,
    fulfillment: null,
    facts: factsOf(blocked, refusal_id),
  };
}

function factsOf(blocked: Blocked, refusal_id: RefusalId): JsonObject {
  return present({
    event: 'policy_blocked',
    policy_code: blocked.policy_code,
    policy_key: blocked.policy_key,
    reason: blocked.reason,
    spent_atomic: blocked.spent_atomic.toString(),
    cap_atomic: blocked.cap_atomic?.toString(),
    period_start: blocked.period_start,
    refusal_id,
  });
}

function refusedCall(
  item: Asking,
  { refusal_code, policy_code }: Blocked,
  refusal_id: RefusalId,
  { head, row }: { head: Head; row: RowRecord },
): RefusedCall {
  return {
    refusal_id,
    refusal_code,
    policy_code,
    task_id: item.task_id,
    agent_id: item.agent_id,
    book_seq: row.seq,
    requested_atomic: item.amount,
    at_ms: head.now_ms,
  };
}
