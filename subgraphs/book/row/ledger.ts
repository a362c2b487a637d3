import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { BookEventKind } from '../../../schema/evidence.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { iso } from '../../clock.ts';
import { insertRows, type Tx } from '../../database.ts';
import { BOOK_CHANNEL } from '../../live.ts';
import {
  type Issuer,
  issueReceipts,
  type OpenLog,
  type PreparedReceipt,
  type Receipt,
  type SignedTreeHead,
} from '../../receipt/index.ts';
import { bear, type EventRecord, type Head, happen, type RowBirth, type RowRecord } from './append.ts';

/*
 * The only writer of books, rows and events. Every function takes the transaction and many items, so that callers that
 * arrive together share one commit. Lock order, everywhere: claim keys sorted → slots → log head → what a stamp writes → book heads by id.
 */

export interface Reservation {
  readonly agent_id: AgentId;
  readonly amount: AtomicAmount;
}

/** What one collected call leaves behind: a receipt, and a row where it lands on a book. */
export interface Collection {
  readonly prepared: PreparedReceipt;
  readonly landing: { readonly agent_id: AgentId; readonly birth: RowBirth; readonly reserved: AtomicAmount } | null;
}

export interface Collected {
  readonly receipt: Receipt;
  readonly seq: number | null;
}

/** A book begins empty; `agent_id` is its name for ever. */
export async function openBook(tx: Tx, agent_id: AgentId): Promise<void> {
  await tx.query({ text: 'insert into book (agent_id, opened_at) values ($1, now())', values: [agent_id] });
}

/** Holds money under the book's ceiling until `collect` or `void`. Takes book heads, never the log head. */
export async function reserve(tx: Tx, items: readonly Reservation[]): Promise<void> {
  await shiftReserved(tx, items, 1n);
}

/** Gives back what `reserve` held, after a call that came to nothing. */
export async function voidReservations(tx: Tx, items: readonly Reservation[]): Promise<void> {
  await shiftReserved(tx, items, -1n);
}

/**
 * Receipts, leaves, the new tree head, rows, events, counters and wake-ups of a batch: one transaction, one truth.
 * `log` is the log's head, which the caller has locked before all that a batch writes.
 */
export async function collect(
  tx: Tx,
  issuer: Issuer,
  log: OpenLog,
  items: readonly Collection[],
): Promise<{ collected: readonly Collected[]; tree_head: SignedTreeHead }> {
  const at = iso(log.collected_at_ms);
  const books = await lockBooks(
    tx,
    items.flatMap(item => item.landing?.agent_id ?? []),
  );

  const rows: RowRecord[] = [];
  const events: EventRecord[] = [];
  const sequenced = items.map(({ prepared, landing }) => {
    if (landing === null) return { prepared, book_seq: null };
    const { head, row, event } = bear(booked(books, landing.agent_id), landing.birth, at);
    books.set(landing.agent_id, {
      ...head,
      spent_atomic: atomicAmount(head.spent_atomic + (landing.birth.amount ?? 0n)),
      reserved_atomic: atomicAmount(head.reserved_atomic - landing.reserved),
    });
    rows.push(row);
    events.push(event);
    return { prepared, book_seq: row.seq };
  });

  const receipts = await issueReceipts(tx, log, issuer, sequenced);
  const tree_head = await log.store(tx, issuer);
  await insertRows(tx, 'book_row', rows);
  await countIntents(tx, rows);
  await publish(tx, books, events);
  const collected = receipts.map((receipt, index) => ({ receipt, seq: sequenced[index]?.book_seq ?? null }));
  return { collected, tree_head };
}

/** The same payment came again: the row stays as it is, a replay event is appended, no seq is consumed. */
export async function replay(tx: Tx, task_ids: readonly string[]): Promise<void> {
  const events = await annotate(
    tx,
    'replay',
    task_ids.map(task_id => ({ task_id, body: { settlement_status: 'idempotent_replay', replay_of: task_id } })),
  );
  if (events.length === 0) return;
  await tx.query({
    name: 'count replays',
    text: `update book_row r set replay_count = replay_count + n.times
      from (select (e->>'agent_id')::int as agent_id, (e->>'seq')::int as seq, count(*)::int as times
            from jsonb_array_elements($1::jsonb) e group by 1, 2) n
      where r.agent_id = n.agent_id and r.seq = n.seq`,
    values: [JSON.stringify(events.map(({ agent_id, seq }) => ({ agent_id, seq })))],
  });
}

/** What turned out otherwise than it was recorded: the row stays as born, and says so by an event. */
export async function correct(tx: Tx, corrections: readonly { task_id: string; body: JsonObject }[]): Promise<void> {
  await annotate(tx, 'correction', corrections);
}

/** Appends one event per note to every book on which the task has a row. */
async function annotate(
  tx: Tx,
  kind: BookEventKind,
  notes: readonly { task_id: string; body: JsonObject }[],
): Promise<readonly EventRecord[]> {
  const { rows } = await tx.query<{ agent_id: AgentId; seq: number; task_id: string; now_ms: number }>({
    name: 'rows of tasks',
    text: `select agent_id, seq, task_id, (extract(epoch from clock_timestamp()) * 1000)::int8 as now_ms
      from book_row where task_id = any($1) order by agent_id, seq`,
    values: [[...new Set(notes.map(note => note.task_id))]],
  });
  if (rows.length === 0) return [];
  const books = await lockBooks(
    tx,
    rows.map(row => row.agent_id),
  );
  const events: EventRecord[] = [];
  for (const { agent_id, seq, task_id, now_ms } of rows) {
    for (const { body } of notes.filter(note => note.task_id === task_id)) {
      const { head, event } = happen(booked(books, agent_id), { kind, seq, task_id, body }, iso(now_ms));
      books.set(agent_id, head);
      events.push(event);
    }
  }
  await publish(tx, books, events);
  return events;
}

async function lockBooks(tx: Tx, agent_ids: readonly AgentId[]): Promise<Map<AgentId, Head>> {
  if (agent_ids.length === 0) return new Map();
  const { rows } = await tx.query<Head & { agent_id: AgentId }>({
    name: 'lock books',
    text: `select agent_id, spent_atomic, reserved_atomic, seq, position, row_hash, event_hash, by_rail
      from book where agent_id = any($1) order by agent_id for update`,
    values: [[...new Set(agent_ids)]],
  });
  return new Map(rows.map(head => [head.agent_id, head]));
}

function booked(books: ReadonlyMap<AgentId, Head>, agent_id: AgentId): Head {
  const head = books.get(agent_id);
  if (!head) throw new Error(`book ${agent_id} does not exist`);
  return head;
}

/** Events, the heads they led to, and one wake-up per book: the last thing a ledger transaction does. */
async function publish(tx: Tx, books: ReadonlyMap<AgentId, Head>, events: readonly EventRecord[]): Promise<void> {
  if (events.length === 0) return;
  await insertRows(tx, 'book_event', events);
  const heads = [...books.values()].map(head => ({
    ...head,
    spent_atomic: head.spent_atomic.toString(),
    reserved_atomic: head.reserved_atomic.toString(),
  }));
  await tx.query({
    name: 'store books',
    text: `with head as (
        update book b set spent_atomic = h.spent_atomic, reserved_atomic = h.reserved_atomic, seq = h.seq,
          position = h.position, row_hash = h.row_hash, event_hash = h.event_hash, by_rail = h.by_rail
        from jsonb_populate_recordset(null::book, $1::jsonb) h where b.agent_id = h.agent_id
        returning b.agent_id, b.position)
      select pg_notify('${BOOK_CHANNEL}', agent_id || ':' || position) from head`,
    values: [JSON.stringify(heads)],
  });
}

async function countIntents(tx: Tx, rows: readonly RowRecord[]): Promise<void> {
  const counted = rows.filter(row => row.intent_id !== null);
  if (counted.length === 0) return;
  await tx.query({
    name: 'count intents',
    text: `insert into book_intent (agent_id, intent_id, collected_count, blocked_count)
      select agent_id, intent_id, count(*) filter (where collected), count(*) filter (where evidence = 'policy_blocked')
      from jsonb_populate_recordset(null::book_row, $1::jsonb) group by 1, 2 order by 1, 2
      on conflict (agent_id, intent_id) do update set
        collected_count = book_intent.collected_count + excluded.collected_count,
        blocked_count = book_intent.blocked_count + excluded.blocked_count`,
    values: [JSON.stringify(counted)],
  });
}

async function shiftReserved(tx: Tx, items: readonly Reservation[], sign: 1n | -1n): Promise<void> {
  if (items.length === 0) return;
  const sums = new Map<AgentId, bigint>();
  for (const { agent_id, amount } of items) sums.set(agent_id, (sums.get(agent_id) ?? 0n) + sign * amount);
  await lockBooks(tx, [...sums.keys()]);
  await tx.query({
    name: 'shift reserved',
    text: `update book b set reserved_atomic = b.reserved_atomic + s.amount
      from unnest($1::int[], $2::numeric[]) as s(agent_id, amount) where b.agent_id = s.agent_id`,
    values: [[...sums.keys()], [...sums.values()].map(String)],
  });
}
