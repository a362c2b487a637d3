import { atomicAmount } from '../../../schema/amount.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { Tx } from '../../database.ts';
import { type Refuser } from '../../receipt/refusal/sign-refusal.ts';
import { type Evaluation, evaluate } from '../policy/evaluate.ts';
import { type Heads, headOf, lockBooks, readBooks, storeBooks } from './append.ts';
import { type BlockedTooOften, type BookRefusal, blockCalls, blockedTooOften } from './block.ts';
import { kindsOf, nameOfKind, readBlockedHours } from './blocked-hours.ts';
import type { Reservation, ReservationRequest } from './reservation.ts';

/* Part of the ledger: what a book lets pass. */

export type Reserved = { readonly kind: 'reserved' } | BookRefusal | BlockedTooOften;

/**
 * Holds money under the book's ceilings until `collect` or `voidReservations`, or refuses: judged item by item in their
 * order, by the database's clock, under the head's lock, so that no interleaving overfills a cap and a kill switch holds
 * from its acknowledgement on. A refusal is a row, an event and a signed document in the same transaction, or, of a kind
 * that had enough of them in this hour, nothing; it is no leaf, so the log's head is never taken here.
 * @throws Refusal book_damaged, of all items: each may then come alone.
 */
export async function reserve(
  tx: Tx,
  refuser: Refuser,
  items: readonly ReservationRequest[],
): Promise<readonly Reserved[]> {
  const books = await lockBooks(
    tx,
    items.map(item => item.agent_id),
  );
  requireSound(books, items);
  const locked = new Map(books);
  const evaluations = items.map(item => hold(books, item));
  const calls = items.flatMap((asked, index) => {
    const blocked = evaluations[index];
    return blocked?.kind === 'blocked' ? [{ asked, blocked }] : [];
  });
  const { outcomes, events } = await blockCalls(tx, refuser, books, calls);
  const changed = [...books].filter(([agent_id, head]) => locked.get(agent_id) !== head);
  storeBooks(tx, new Map(changed), events);
  const refused = new Map(calls.map(({ asked }, index) => [asked, outcomes[index]]));
  return items.map(item => refused.get(item) ?? { kind: 'reserved' });
}

function hold(books: Heads, item: ReservationRequest): Evaluation {
  const head = headOf(books, item.agent_id);
  const evaluation = item.owed ? ({ kind: 'admitted' } as const) : evaluate(head, item.amount);
  if (evaluation.kind === 'admitted' && item.amount !== null)
    books.set(item.agent_id, { ...head, reserved_atomic: atomicAmount(head.reserved_atomic + item.amount) });
  return evaluation;
}

/**
 * Which of these calls their books refuse as they stand, each judged by itself, and have refused too often: null for all
 * others. Nothing is locked and nothing written, so that whoever is refused all the time costs reads; what may pass, or
 * have a row, is for `reserve` to say.
 */
export async function refusedTooOften(
  tx: Tx,
  items: readonly ReservationRequest[],
): Promise<readonly (BlockedTooOften | null)[]> {
  const books = await readBooks(
    tx,
    items.map(item => item.agent_id),
  );
  const refused = items.map(({ agent_id, amount, intent_id, owed }) => {
    const head = headOf(books, agent_id);
    const evaluation = evaluate(head, amount);
    if (owed || head.damaged || evaluation.kind === 'admitted') return null;
    return { head, evaluation, kinds: kindsOf(head, evaluation, intent_id) };
  });
  const hours = await readBlockedHours(
    tx,
    refused.flatMap(it => it?.kinds ?? []).map(({ kind }) => kind),
  );
  return refused.map(it => {
    if (it === null) return null;
    const kinds = it.kinds.map(({ kind, rows_max }) => ({ rows_max, hour: hours.get(nameOfKind(kind)) }));
    return blockedTooOften(kinds, it.evaluation, it.head);
  });
}

/** What has been paid for already lands on a book that is closed, too. */
function requireSound(books: Heads, items: readonly ReservationRequest[]): void {
  if (items.some(({ agent_id, owed }) => !owed && headOf(books, agent_id).damaged))
    throw new Refusal('book_damaged', { facts: { charged: false } });
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
    const head = headOf(books, agent_id);
    books.set(agent_id, { ...head, reserved_atomic: atomicAmount(head.reserved_atomic - amount) });
  }
  storeBooks(tx, books, []);
}
