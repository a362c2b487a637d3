import { expect } from 'vitest';
import type { RowRecord } from '../../../schema/book-row.ts';
import { canonicalHash, type JsonObject } from '../../../schema/canonical-json.ts';
import type { EventRecord } from '../../../subgraphs/book/ledger/append.ts';
import { iso } from '../../../subgraphs/clock.ts';
import type { Database } from '../../../subgraphs/database.ts';

type StoredRow = Omit<RowRecord, 'amount' | 'collected_at'> & { amount: bigint | null; collected_at: Date };
type StoredEvent = Omit<EventRecord, 'at'> & { at: Date };

interface StoredHead {
  readonly agent_id: number;
  readonly spent_atomic: bigint;
  readonly reserved_atomic: bigint;
  readonly hour_start: Date | null;
  readonly hour_atomic: bigint;
  readonly day_start: Date | null;
  readonly day_atomic: bigint;
  readonly seq: number;
  readonly position: number;
  readonly row_hash: string;
  readonly event_hash: string;
}

/** Checks that rows and events have no gaps and that each contains the hash of the one before, up to the head. */
export async function auditBooks(database: Database): Promise<void> {
  const books = await database.query<StoredHead>({ text: 'select * from book order by agent_id' });
  const rows = await database.query<StoredRow>({ text: `select ${ROW_COLUMNS} from book_row order by agent_id, seq` });
  const events = await database.query<StoredEvent>({ text: 'select * from book_event order by agent_id, position' });
  for (const book of books) {
    const own = <T extends { agent_id: number }>(all: readonly T[]) => all.filter(it => it.agent_id === book.agent_id);
    auditEvents(book, own(events));
    auditRows(book, own(rows), own(events));
  }
  await auditCounts(database);
  await auditSums(database);
}

const ELSEWHERE = `case when evidence = 'foreign_ingest' then 'elsewhere' else '' end`;

/** Checks all sums (by hour, day, model and so on), with numbers of rows and kinds of evidence, against the rows themselves. */
async function auditSums(database: Database): Promise<void> {
  const counted = await database.query({
    text: `select agent_id, dimension, period, bucket, rail, count, amount from book_sum where count <> 0 order by 1, 2, 3, 4, 5`,
  });
  const by = {
    hour: `'hour', ${ELSEWHERE}`,
    day: `'day', ${ELSEWHERE}`,
    model: `'day', coalesce(model, '')`,
    hub: `'day', coalesce(hub, '')`,
    intent: `'day', coalesce(intent_id, '')`,
    payer: `'day', coalesce(payer_wallet, '')`,
    network: `'day', coalesce(split_part(payment_ref, ':', 1), '')`,
    session: `'day', coalesce((select delegation_hash from delegated_call c where c.task_id = r.task_id and c.agent_id = r.agent_id), '')`,
  };
  const scans = Object.entries(by).map(([dimension, how]) => {
    const [period, bucket] = how.split(/, (.*)/s);
    return `select agent_id, '${dimension}' as dimension, date_trunc(${period}, collected_at, 'UTC') as period, ${bucket} as bucket,
      coalesce(rail, '') as rail, count(*)::int as count, sum(amount) as amount
      from book_row r where amount is not null group by 1, 2, 3, 4, 5`;
  });
  scans.push(`select agent_id, 'rows', to_timestamp(0), '', coalesce(rail, ''), count(*)::int, coalesce(sum(amount), 0)
    from book_row group by 1, 5`);
  scans.push(`select agent_id, 'evidence', date_trunc('day', collected_at, 'UTC'), evidence, coalesce(rail, ''),
    count(*)::int, coalesce(sum(amount), 0) from book_row group by 1, 3, 4, 5`);
  expect(counted).toEqual(await database.query({ text: `${scans.join(' union all ')} order by 1, 2, 3, 4, 5` }));
}

/**
 * Checks the replay count of each row against its events, and that every count that is not yet written to an event belongs to a row that
 * exists.
 */
async function auditCounts(database: Database): Promise<void> {
  const wrong = await database.query({
    text: `select r.agent_id, r.seq, r.replay_count, e.replays from book_row r left join (
        select agent_id, seq, sum(coalesce((body->>'count')::int, 1))::int as replays from book_event where kind = 'replay'
        group by 1, 2) e using (agent_id, seq)
      where r.replay_count <> coalesce(e.replays, 0)
      union all select agent_id, seq, c.count, null from book_counted c left join book_row r using (agent_id, seq, task_id)
      where r.seq is null or c.count < 1 or c.first_at > c.last_at`,
  });
  expect(wrong).toEqual([]);
}

const ROW_COLUMNS = `task_id, evidence, collected, payment_ref, transfer_index, rail, amount, model, hub, intent_id,
  attempt_index, payer_wallet, settled_by, parent_ref, recorded_by, arrival_status, fulfillment, facts, agent_id, seq,
  collected_at, prev_row_hash, row_hash`;

function auditRows(book: StoredHead, rows: readonly StoredRow[], events: readonly StoredEvent[]): void {
  expect(rows.map(row => row.seq)).toEqual(oneTo(book.seq));
  let before = '';
  for (const { row_hash, amount, collected_at, ...facts } of rows) {
    const standing = { ...facts, amount: amount?.toString() ?? null, collected_at: iso(collected_at.getTime()) };
    const born = { ...standing, ...birthFacts(events, facts.seq) };
    expect(born.prev_row_hash).toBe(before);
    expect(canonicalHash(born)).toBe(row_hash);
    before = row_hash;
  }
  expect(book.row_hash).toBe(before);
  expect(book.spent_atomic).toBe(sumOf(rows));
  auditWindow(rows, book.hour_start, book.hour_atomic, 3_600_000);
  auditWindow(rows, book.day_start, book.day_atomic, 24 * 3_600_000);
  // All calls have ended, so nothing may be reserved.
  expect(book.reserved_atomic).toBe(0n);
}

/** Members of a row before its transition. The event of the transition keeps them. */
function birthFacts(events: readonly StoredEvent[], seq: number): JsonObject {
  const moved = events.find(event => event.kind === 'transition' && event.seq === seq);
  return (moved?.body.born ?? {}) as JsonObject;
}

function auditWindow(rows: readonly StoredRow[], start: Date | null, atomic: bigint, length_ms: number): void {
  const age = (row: StoredRow) => row.collected_at.getTime() - Number(start);
  const within = start === null ? [] : rows.filter(row => age(row) >= 0 && age(row) < length_ms);
  expect(atomic).toBe(sumOf(within));
}

/** Spending elsewhere counts towards no cap, so it is left out. */
const sumOf = (rows: readonly StoredRow[]) =>
  rows.reduce((sum, row) => sum + (row.evidence === 'foreign_ingest' ? 0n : (row.amount ?? 0n)), 0n);

function auditEvents(book: StoredHead, events: readonly StoredEvent[]): void {
  expect(events.map(event => event.position)).toEqual(oneTo(book.position));
  let before = '';
  for (const { hash, at, ...facts } of events) {
    expect(facts.prev_hash).toBe(before);
    expect(canonicalHash({ ...facts, at: iso(at.getTime()) })).toBe(hash);
    before = hash;
  }
  expect(book.event_hash).toBe(before);
}

export function oneTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}
