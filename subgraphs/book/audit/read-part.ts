import { rowColumns } from '../../../schema/book-row.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Evidence } from '../../../schema/evidence.ts';
import { INT_MAX } from '../../../schema/limits.ts';
import type { Database, Tx } from '../../database.ts';
import { heldOnBook } from '../../receipt/claim/funds.ts';
import { readReceipts } from '../../receipt/receipt/find.ts';
import type { IntentCounts, StoredEvent } from './audit.ts';
import type { StoredDispute } from './dispute.ts';
import type { StoredBook } from './head.ts';
import type { StoredRow } from './row.ts';

/** Number of events audited at once, so that hashing does not block the event loop for long. */
export const PART_EVENTS = 100;

type BareRow = Omit<StoredRow, 'receipt'>;

/** Some events of a book, their rows and its head, all from one snapshot. */
export interface ReadPart {
  readonly book: StoredBook;
  readonly events: readonly StoredEvent[];
  readonly rows: readonly BareRow[];
  readonly disputes: ReadonlyMap<string, StoredDispute>;
  /** True if these are the last events of the book. Only then are the counts of its intents read. */
  readonly ended: boolean;
}

/** Reads the events after a position. Null if the book does not exist. @param tx a snapshot, or a transaction that locks the head */
export async function readPart(tx: Tx, agent_id: number, after: number): Promise<ReadPart | null> {
  const [head, events, held_atomic] = await Promise.all([
    tx.query<Omit<StoredBook, 'intents' | 'held_atomic'>>({ name: 'audit head', text: HEAD, values: [agent_id] }),
    tx.query<StoredEvent>({ name: 'audit events', text: EVENTS, values: [agent_id, after, PART_EVENTS] }),
    heldOnBook(tx, agent_id),
  ]);
  const [book] = head.rows;
  if (!book) return null;
  const ended = events.rows.length < PART_EVENTS;
  const [rows, disputes, intents] = await Promise.all([
    readRows(tx, agent_id, events.rows),
    readDisputes(tx, agent_id, events.rows),
    ended ? readIntents(tx, agent_id) : new Map<string, IntentCounts>(),
  ]);
  return { book: { ...book, held_atomic, intents }, events: events.rows, rows, disputes, ended };
}

const HEAD = `select agent_id, seq, position, row_hash, event_hash, spent_atomic, by_rail, hour_start, hour_atomic,
    day_start, day_atomic, reserved_atomic, budget_atomic, policy, shadow, terms_hash, damage,
    (select coalesce(max(seq), 0) from book_row where agent_id = $1) as row_seq_max
  from book where agent_id = $1`;

const EVENTS = `select agent_id, position, kind, seq, task_id, body, at, prev_hash, hash from book_event
  where agent_id = $1 and position > $2 order by position limit $3`;

/** An event that combines replays has a `count`. The query must not fail if it was altered, because the hash of the event reveals that. */
const ROWS = `select ${rowColumns.join(', ')},
    (select coalesce(jsonb_agg(e.body order by e.position), '[]') from book_event e
      where e.agent_id = r.agent_id and e.seq = r.seq and e.kind = 'transition') as transitions,
    (select least(greatest(coalesce(sum(
        case when jsonb_typeof(e.body->'count') = 'number' then (e.body->>'count')::numeric else 1 end), 0), 0), ${INT_MAX})::int
      from book_event e
      where e.agent_id = r.agent_id and e.seq = r.seq and e.kind = 'replay') as replays
  from book_row r where agent_id = $1 and seq = any($2)`;

async function readRows(tx: Tx, agent_id: number, events: readonly StoredEvent[]): Promise<readonly BareRow[]> {
  const seqs = events.flatMap(({ kind, seq }) => (kind === 'born' || kind === 'transition' ? (seq ?? []) : []));
  if (seqs.length === 0) return [];
  const values = [agent_id, [...new Set(seqs)]];
  return (await tx.query<BareRow>({ name: 'audit rows', text: ROWS, values })).rows;
}

async function readDisputes(
  tx: Tx,
  agent_id: number,
  events: readonly StoredEvent[],
): Promise<Map<string, StoredDispute>> {
  const ids = events.flatMap(({ kind, body }) => (kind === 'dispute' ? [String(body.dispute_id)] : []));
  if (ids.length === 0) return new Map();
  const { rows } = await tx.query<StoredDispute & Record<string, unknown>>({
    name: 'audit disputes',
    text: `select dispute_id, seq, task_id, claim_type, outcome, reason, position, verdict, revision, supersedes,
        standing_task_id, decides_after, refund_of from dispute
      where agent_id = $1 and dispute_id = any($2)`,
    values: [agent_id, [...new Set(ids)]],
  });
  return new Map(rows.map(dispute => [dispute.dispute_id, dispute]));
}

async function readIntents(tx: Tx, agent_id: number): Promise<Map<string, IntentCounts>> {
  const { rows } = await tx.query<IntentCounts & { intent_id: string }>({
    name: 'audit intents',
    text: 'select intent_id, collected_count, blocked_count from book_intent where agent_id = $1',
    values: [agent_id],
  });
  return new Map(rows.map(({ intent_id, ...counts }) => [intent_id, counts]));
}

/** A database or a transaction. */
export type Queryable = Pick<Database, 'query'>;

/** Rows by seq, with the facts of their receipts. Signed facts never change, so they may be read after the snapshot. */
export async function signedFacts(database: Queryable, rows: readonly BareRow[]): Promise<Map<number, StoredRow>> {
  const paid = rows.filter(isPaid);
  const receipts = await readReceipts(
    database,
    paid.map(row => row.task_id),
  );
  const signed = new Map(paid.map((row, index) => [row.seq, factsOf(receipts[index] ?? null)]));
  return new Map(rows.map(row => [row.seq, { ...row, receipt: signed.get(row.seq) ?? null }]));
}

const withPaidReceipt: readonly Evidence[] = ['collected', 'RECORDED_BY_SETTLE', 'foreign_ingest'];

/** Decided by the evidence at birth, because a row whose transfer never arrives keeps its receipt. */
function isPaid({ evidence, transitions: [first] }: BareRow): boolean {
  const born = (first?.born ?? { evidence }) as JsonObject;
  return withPaidReceipt.includes(born.evidence as Evidence);
}

function factsOf(receipt: Awaited<ReturnType<typeof readReceipts>>[number]): StoredRow['receipt'] {
  if (receipt === null) return 'missing';
  // A damaged receipt is reported separately.
  if (receipt instanceof Error) return null;
  const { agentId: agent_id, bookSeq: book_seq, amount, paymentRef: payment_ref } = receipt;
  return { agent_id, book_seq, amount: amount?.toString() ?? null, payment_ref };
}
