import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import type { InitialFacts, RowRecord } from '../../../schema/book-row.ts';
import { period_ms } from '../../../schema/clock-window.ts';
import { isSpentElsewhere } from '../../../schema/evidence.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { alertLimits } from '../../../schema/limits.ts';
import type { Tx } from '../../database.ts';
import { type Issuer } from '../../receipt/issuer/signing-keys.ts';
import { type OpenLog } from '../../receipt/log/head.ts';
import { type SignedTreeHead } from '../../receipt/log/tree-head.ts';
import { issueReceipts, type PreparedReceipt } from '../../receipt/receipt/issue.ts';
import { type Receipt } from '../../receipt/receipt/receipt.entity.ts';
import { judgeAlerts, wantsUsualSpending } from '../alerts/judge.ts';
import { dayOf, keepHourBefore, usualSpendingOf } from '../alerts/rate.ts';
import {
  appendEvent,
  appendRow,
  type EventRecord,
  type Head,
  type Heads,
  headOf,
  lockBooks,
  storeBooks,
  storeNewRows,
} from './append.ts';
import { termsHash } from './terms.ts';
import { appendWouldBlock, type WouldBlock } from './would-block.ts';

/*
 * This folder is the only writer of books, rows and events (test/tidy/places.ts). Every function takes the transaction and many
 * items, so that requests that arrive together share one commit. The lock order is the same everywhere: claim keys sorted → slots →
 * log head → rows of stamps → book heads by id.
 */

/** Collected call to be recorded: its receipt, and its row if the call belongs to a book. */
export interface Collection {
  readonly prepared: PreparedReceipt;
  readonly landing: {
    readonly agent_id: AgentId;
    readonly birth: InitialFacts;
    readonly reserved: AtomicAmount;
    /** Judgements of shadow policies, made when the book let the call pass. */
    readonly would_block?: readonly WouldBlock[];
  } | null;
  /** Rows on other books for the same receipt. Nothing was reserved for them, and no policy applies to them. */
  readonly also_on?: readonly { readonly agent_id: AgentId; readonly birth: InitialFacts }[];
}

export interface CollectedCall {
  readonly receipt: Receipt;
  readonly seq: number | null;
}

/** Creates an empty book. Its `agent_id` never changes. */
export function openBook(tx: Tx, agent_id: AgentId): void {
  tx.write({
    text: 'insert into book (agent_id, opened_at, terms_hash) values ($1, now(), $2)',
    values: [agent_id, termsHash(agent_id, { budget_atomic: null, policy: {}, shadow: {} })],
  });
}

/**
 * Writes the receipts, leaves, tree head, rows, events, counters and notifications of a batch in one transaction. The caller must
 * have locked `log`, the head of the log, before anything else.
 */
export async function collect(
  tx: Tx,
  issuer: Issuer,
  log: OpenLog,
  items: readonly Collection[],
  locked_before?: Heads,
): Promise<{ collected: readonly CollectedCall[]; tree_head: SignedTreeHead }> {
  const locked = locked_before ?? (await lockBooks(tx, booksOfCollections(items)));
  const books = await withUsualSpending(tx, locked, landingOn(items), log.collected_at_ms);

  const rows: RowRecord[] = [];
  const events: EventRecord[] = [];
  const sequenced = items.map(({ prepared, landing, also_on = [] }) => {
    for (const { agent_id, birth } of also_on) {
      const born = appendRow(headOf(books, agent_id), birth, log.collected_at_ms);
      books.set(agent_id, born.head);
      rows.push(born.row);
      events.push(born.event);
    }
    if (landing === null) return { prepared, book_seq: null };
    const before = headOf(books, landing.agent_id);
    const born = appendRow(before, landing.birth, log.collected_at_ms);
    const blocks = appendWouldBlock(born.head, born.row, landing.would_block ?? []);
    const alerts = appendAlerts(before, { head: blocks.head, row: born.row });
    const reserved_atomic = atomicAmount(alerts.head.reserved_atomic - landing.reserved);
    books.set(landing.agent_id, { ...alerts.head, reserved_atomic });
    rows.push(born.row);
    events.push(born.event, ...blocks.events, ...alerts.events);
    return { prepared, book_seq: born.row.seq };
  });

  const receipts = issueReceipts(tx, log, issuer, sequenced);
  const tree_head = log.store(tx, issuer);
  storeNewRows(tx, rows);
  storeBooks(tx, books, events);
  const collected = receipts.map((receipt, index) => ({ receipt, seq: sequenced[index]?.book_seq ?? null }));
  return { collected, tree_head };
}

/** The books on which rows are appended. */
export function booksOfCollections(items: readonly Collection[]): readonly AgentId[] {
  return items.flatMap(({ landing, also_on = [] }) => [
    ...(landing === null ? [] : [landing.agent_id]),
    ...also_on.map(({ agent_id }) => agent_id),
  ]);
}

function landingOn(items: readonly Collection[]): { agent_id: AgentId; amount: bigint }[] {
  return items.flatMap(({ landing }) => {
    if (landing === null) return [];
    const { amount, evidence } = landing.birth;
    return amount === null || isSpentElsewhere(evidence) ? [] : [{ agent_id: landing.agent_id, amount }];
  });
}

/**
 * Appends alerts after the row. They are judged by the counters of the head, so nothing is scanned.
 * @param before the head to which the row was appended
 */
function appendAlerts(
  before: Head,
  { head, row }: Pick<ReturnType<typeof appendRow>, 'head' | 'row'>,
): { head: Head; events: readonly EventRecord[] } {
  if (row.amount === null || isSpentElsewhere(row.evidence)) return { head, events: [] };
  const alert_state = keepHourBefore(head.alert_state, before.hour, head.hour);
  const { alerts, state } = judgeAlerts({ ...head, alert_state }, Date.parse(row.collected_at));
  let grown: Head = { ...head, alert_state: state };
  const events = alerts.map(body => {
    const { seq, task_id, collected_at } = row;
    const appended = appendEvent(grown, { kind: 'alert', seq, task_id, body }, collected_at);
    grown = appended.head;
    return appended.event;
  });
  return { head: grown, events };
}

const DAYS = `select agent_id, sum(amount) as amount from book_sum where agent_id = any($1) and dimension = 'day' and bucket = ''
    and period >= $2::timestamptz and period < $3::timestamptz
  group by agent_id, period having sum(amount) > 0`;

/**
 * Adds the usual spending to the heads of books. It is read from the sums of their last days, at most once a day and only if an
 * alert may depend on it.
 * @param landing amounts that are about to be collected on the books
 */
async function withUsualSpending(
  tx: Tx,
  books: Heads,
  landing: readonly { readonly agent_id: AgentId; readonly amount: bigint }[],
  at_ms: number,
): Promise<Heads> {
  const sums = new Map<AgentId, bigint>();
  for (const { agent_id, amount } of landing) sums.set(agent_id, (sums.get(agent_id) ?? 0n) + amount);
  const wanting = [...sums].filter(([id, sum]) => wantsUsualSpending(headOf(books, id), sum, at_ms)).map(([id]) => id);
  if (wanting.length === 0) return books;
  const day = dayOf(at_ms);
  const from = new Date(Date.parse(day) - alertLimits.habit_days_max * period_ms.day).toISOString();
  const { rows } = await tx.query<{ agent_id: AgentId; amount: bigint }>({
    name: 'days of habit',
    text: DAYS,
    values: [wanting, from, day],
  });
  const spent = Map.groupBy(rows, row => row.agent_id);
  const known = new Map(books);
  for (const id of wanting) {
    const habit = usualSpendingOf(
      day,
      (spent.get(id) ?? []).map(({ amount }) => amount),
    );
    const head = headOf(books, id);
    known.set(id, { ...head, alert_state: { ...head.alert_state, habit } });
  }
  return known;
}
