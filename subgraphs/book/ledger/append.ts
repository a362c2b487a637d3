import type { AtomicAmount } from '../../../schema/amount.ts';
import type { BookEventKind, BookEventNoun } from '../../../schema/book/event.ts';
import type { KeptAlertSettings } from '../../../schema/book-alerts.ts';
import { hashedFacts, type InitialFacts, type RowRecord } from '../../../schema/book-row.ts';
import { canonicalHash, type JsonObject } from '../../../schema/canonical-json.ts';
import type { Window } from '../../../schema/clock-window.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { DocumentOf } from '../../../schema/noun.ts';
import type { BookPolicy } from '../../../schema/policy-kinds.ts';
import type { WebhookKind } from '../../../schema/webhook/kinds.ts';
import { iso } from '../../clock.ts';
import { insertRows, type Tx } from '../../database.ts';
import { BOOK_CHANNEL } from '../../live-channels.ts';
import type { AlertState } from '../alerts/state.ts';
import { storedAlerts } from '../alerts/stored-state.ts';
import { leaveBooks, requireBooksGoOn } from '../heads/book-changes.ts';
import { type Counters, tally } from './counters.ts';
import { countRows } from './sums.ts';
import { sendMessages, withMessageNumbers } from './webhook-messages.ts';

/** Head of a book as the ledger reads it. */
export interface Head extends Counters {
  readonly agent_id: AgentId;
  readonly reserved_atomic: AtomicAmount;
  /** Budget Y. Null if unlimited. */
  readonly budget_atomic: AtomicAmount | null;
  readonly policy: BookPolicy;
  /** Policies in shadow mode. */
  readonly shadow: BookPolicy;
  /** Grows with each change of budget or policy. */
  readonly policy_version: number;
  readonly alert_settings: KeptAlertSettings;
  readonly alert_state: AlertState;
  /** Event kinds to which the webhook of the book subscribes. Null if it has no active webhook. */
  readonly webhook_kinds: readonly WebhookKind[] | null;
  /** Number of the last message for the webhook. */
  readonly webhook_messages: number;
  readonly seq: number;
  readonly position: number;
  readonly row_hash: string;
  readonly event_hash: string;
  /** True if the audit has closed the book. It then accepts only rows that were already paid for. */
  readonly damaged: boolean;
  /** Time by the clock of the database (ms). It is read after the head was locked. */
  readonly now_ms: number;
}

/** Columns of book_event as they are inserted. */
export interface EventRecord
  extends Pick<
    DocumentOf<typeof BookEventNoun>,
    'position' | 'kind' | 'seq' | 'task_id' | 'at' | 'prev_hash' | 'hash'
  > {
  readonly agent_id: AgentId;
  readonly body: JsonObject;
}

/**
 * Appends a row to the head. The row takes the next seq and the next position. Its hash covers its facts, its seq and the hash of
 * the row before it.
 */
export function appendRow(
  head: Head,
  birth: InitialFacts,
  at_ms: number,
): { head: Head; row: RowRecord; event: EventRecord } {
  const at = iso(at_ms);
  const seq = head.seq + 1;
  const facts = {
    ...birth,
    amount: birth.amount === null ? null : birth.amount.toString(),
    agent_id: head.agent_id,
    seq,
    collected_at: at,
    prev_row_hash: head.row_hash,
  };
  const row: RowRecord = { ...facts, row_hash: canonicalHash(hashedFacts(facts as unknown as JsonObject)) };
  const grown = { ...tally(head, birth, at_ms, 1), seq, row_hash: row.row_hash };
  const body = { evidence: birth.evidence, collected: birth.collected, amount: facts.amount, row_hash: row.row_hash };
  return { row, ...appendEvent(grown, { kind: 'born', seq, task_id: birth.task_id, body }, at) };
}

/** Appends an event, which takes the next position but no seq. */
export function appendEvent(
  head: Head,
  what: { kind: BookEventKind; seq: number | null; task_id: string | null; body: JsonObject },
  at: string,
): { head: Head; event: EventRecord } {
  const position = head.position + 1;
  const { webhook_messages, body } = withMessageNumbers(head, what);
  const facts = { agent_id: head.agent_id, position, ...what, body, at, prev_hash: head.event_hash };
  const event: EventRecord = { ...facts, hash: canonicalHash(facts) };
  return { head: { ...head, position, webhook_messages, event_hash: event.hash }, event };
}

/** Heads by agent id. The ledger stores only heads that its transaction has locked. */
export type Heads = Map<AgentId, Head>;

/**
 * Locks heads in the order of their ids.
 * @throws LogHalted if a head does not continue from what this process committed
 */
export async function lockBooks(tx: Tx, agent_ids: readonly AgentId[]): Promise<Heads> {
  if (agent_ids.length === 0) return new Map();
  const heads = await headsBy(tx, { name: 'lock books', text: LOCK }, agent_ids);
  await requireBooksGoOn(tx, agent_ids, heads);
  return heads;
}

/** Returns heads as last committed, without a lock. They must not be stored. */
export async function readBooks(tx: Tx, agent_ids: readonly AgentId[]): Promise<Heads> {
  return headsBy(tx, { name: 'read books', text: READ }, agent_ids);
}

async function headsBy(
  tx: Tx,
  statement: { readonly name: string; readonly text: string },
  agent_ids: readonly AgentId[],
): Promise<Heads> {
  const { rows } = await tx.query<StoredHead>({
    ...statement,
    changes_nothing: true,
    values: [[...new Set(agent_ids)]],
  });
  return new Map(rows.map(row => [row.agent_id, headFromRow(row)]));
}

type StoredHead = Omit<Head, 'hour' | 'day'> & {
  readonly hour_start: Date | null;
  readonly hour_atomic: AtomicAmount;
  readonly day_start: Date | null;
  readonly day_atomic: AtomicAmount;
};

/**
 * Reads the clock outside the locking scan, and so after any wait for the lock. Caps are therefore checked by the time at which the
 * call is judged.
 */
const headsOf = (locking: string) => `with head as materialized (
    select agent_id, budget_atomic, policy, shadow, policy_version, spent_atomic, reserved_atomic, hour_start, hour_atomic,
      day_start, day_atomic, seq, position, row_hash, event_hash, by_rail, alert_settings, alert_state,
      webhook_kinds, webhook_messages, damage is not null as damaged
    from book where agent_id = any($1) order by agent_id ${locking})
  select head.*, floor(extract(epoch from clock_timestamp()) * 1000)::int8 as now_ms from head`;
const LOCK = headsOf('for update');
const READ = headsOf('');

function headFromRow({ hour_start, hour_atomic, day_start, day_atomic, ...head }: StoredHead): Head {
  const hour = windowOf(hour_start, hour_atomic);
  return { ...head, ...storedAlerts(head), hour, day: windowOf(day_start, day_atomic) };
}

function windowOf(start: Date | null, atomic: AtomicAmount): Window {
  return { start_ms: start?.getTime() ?? null, atomic };
}

export function headOf(books: ReadonlyMap<AgentId, Head>, agent_id: AgentId): Head {
  const head = books.get(agent_id);
  if (!head) throw new Error(`book ${agent_id} does not exist`);
  return head;
}

/** Stores the events, the new heads, and one notification per changed book. It is the last step of a ledger transaction. */
export function storeBooks(tx: Tx, books: Heads, events: readonly EventRecord[]): void {
  if (books.size === 0) return;
  insertRows(tx, 'book_event', events);
  leaveBooks(tx, events);
  sendMessages(tx, books, events);
  tx.write({
    name: 'store books',
    text: `with head as (
        update book b set spent_atomic = h.spent_atomic, reserved_atomic = h.reserved_atomic, seq = h.seq,
          position = h.position, row_hash = h.row_hash, event_hash = h.event_hash, by_rail = h.by_rail,
          hour_start = h.hour_start, hour_atomic = h.hour_atomic, day_start = h.day_start, day_atomic = h.day_atomic,
          alert_state = h.alert_state, webhook_messages = h.webhook_messages
        from jsonb_populate_recordset(null::book, $1::jsonb) h where b.agent_id = h.agent_id
        returning b.agent_id, b.position)
      select pg_notify('${BOOK_CHANNEL}', agent_id || ':' || position) from head where agent_id = any($2)`,
    values: [JSON.stringify([...books.values()].map(headColumns)), [...new Set(events.map(event => event.agent_id))]],
  });
}

/** Columns of a head that the ledger writes. Budget and policy are set by the owner. */
function headColumns({
  agent_id,
  seq,
  position,
  row_hash,
  event_hash,
  by_rail,
  alert_state,
  webhook_messages,
  hour,
  day,
  ...sums
}: Head): object {
  return {
    agent_id,
    seq,
    position,
    row_hash,
    event_hash,
    by_rail,
    alert_state,
    webhook_messages,
    spent_atomic: sums.spent_atomic.toString(),
    reserved_atomic: sums.reserved_atomic.toString(),
    hour_start: hour.start_ms === null ? null : iso(hour.start_ms),
    hour_atomic: hour.atomic.toString(),
    day_start: day.start_ms === null ? null : iso(day.start_ms),
    day_atomic: day.atomic.toString(),
  };
}

/** Stores new rows and counts them in the same transaction. */
export function storeNewRows(tx: Tx, rows: readonly RowRecord[]): void {
  insertRows(tx, 'book_row', rows);
  countIntents(tx, rows);
  countRows(
    tx,
    rows.map(row => ({ ...row, times: 1 })),
  );
}

export function countIntents(tx: Tx, rows: readonly Pick<RowRecord, IntentFacts>[]): void {
  const named = rows.filter(row => row.intent_id !== null);
  if (named.length === 0) return;
  tx.write({
    name: 'count intents',
    text: `insert into book_intent (agent_id, intent_id, collected_count, blocked_count)
      select agent_id, intent_id, count(*) filter (where collected), count(*) filter (where evidence = 'policy_blocked')
      from jsonb_populate_recordset(null::book_row, $1::jsonb) group by 1, 2 order by 1, 2
      on conflict (agent_id, intent_id) do update set
        collected_count = book_intent.collected_count + excluded.collected_count,
        blocked_count = book_intent.blocked_count + excluded.blocked_count`,
    values: [JSON.stringify(named)],
  });
}

type IntentFacts = 'agent_id' | 'intent_id' | 'collected' | 'evidence';
