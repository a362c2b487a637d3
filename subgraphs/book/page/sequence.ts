import type { SupersessionStatus } from '../../../schema/book-sequence.ts';
import { documents } from '../../../schema/documents.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';
import type { RowDimension } from '../ledger/sums.ts';
import { WHOLE_BOOK } from '../ledger/supersede.ts';
import type { BookSequence } from './sequence.type.ts';

/** Counts of the rows and corrections of a book, or of one chain of corrections. */
export interface SequenceCounts {
  /** Seq of the newest row, as the head has it. */
  readonly seq: number;
  /** Number of rows that the sums count. The lowest and highest seq of these rows are null if there are none. */
  readonly counted: number;
  readonly counted_min: number | null;
  readonly counted_max: number | null;
  /** Lowest and highest seq of the stored rows. */
  readonly seq_min: number | null;
  readonly seq_max: number | null;
  readonly chains: number;
  readonly corrections: number;
  readonly forks: number;
  readonly last_task_id: string | null;
  /** Number of rows of corrected chains that have no successor. Null if a version without this count has written a correction. */
  readonly tips: number | null;
  /** Task id of the newest merge. Null if there is none. */
  readonly last_merge_task_id: string | null;
}

/**
 * Reports on the sequence of a book, or on the chain of corrections of the row with `task_id`. Counters and both ends of an index
 * are read, but no rows.
 * @throws Refusal forbidden if the book does not exist, book_damaged, not_found if the book has no row with this task id
 */
export async function sequenceOf(
  database: Pick<Database, 'query'>,
  agent_id: AgentId,
  task_id: string | null,
): Promise<BookSequence> {
  const original_seq = task_id === null ? WHOLE_BOOK : await chainOf(database, agent_id, task_id);
  const [found] = await database.query<SequenceCounts & { damaged: boolean }>({
    name: 'book sequence',
    text: COUNTS,
    values: [agent_id, original_seq],
  });
  if (!found) throw new Refusal('forbidden');
  if (found.damaged) throw new Refusal('book_damaged');
  return {
    schema: documents.book_seq_report,
    agentId: agent_id,
    seq: found.seq,
    count: found.counted,
    gapless: isGapless(found),
    supersession: { ...supersessionOf(found), taskId: task_id },
  };
}

/**
 * Whether the seqs are exactly 1..N. Seqs are unique (primary key), so this is true if the number of counted rows equals the
 * highest seq, no counted row is outside this range, and both ends are stored.
 */
export function isGapless({ seq, counted, ...ends }: SequenceCounts): boolean {
  const { counted_min, counted_max, seq_min, seq_max } = ends;
  if (seq === 0) return counted === 0 && seq_max === null;
  return counted === seq && counted_min === 1 && counted_max === seq && seq_min === 1 && seq_max === seq;
}

/**
 * No correction is preferred if there are several candidates, neither in a fork nor between unrelated chains. A merged fork stays a
 * fork, and the report adds the correction that merged its last branches.
 */
export function supersessionOf(counts: SequenceCounts) {
  const { chains, corrections, forks, tips, last_task_id, last_merge_task_id } = counts;
  const status: SupersessionStatus = corrections === 0 ? 'none' : forks === 0 ? 'linear' : 'forked';
  const authoritative = status === 'linear' && chains === 1 ? last_task_id : null;
  const mergedBy = status === 'forked' && chains === 1 && tips === 1 ? last_merge_task_id : null;
  return { status, authoritative, mergedBy, chains, corrections, forks };
}

/** Seq of the inflow at the start of the row's chain of corrections. For any other row its own seq, which has no counts. */
async function chainOf(database: Pick<Database, 'query'>, agent_id: AgentId, task_id: string): Promise<number> {
  const [row] = await database.query<{ original_seq: number }>({
    name: 'chain of row',
    text: `select coalesce(c.original_seq, r.seq) as original_seq
      from book_row r left join book_correction c using (agent_id, seq) where r.agent_id = $1 and r.task_id = $2`,
    values: [agent_id, task_id],
  });
  if (!row) throw new Refusal('not_found', { param: 'task_id', detail: 'The book has no row with this task_id.' });
  return row.original_seq;
}

const counted_by: RowDimension = 'rows';
const COUNTS = `select h.seq, h.damage is not null as damaged, r.counted, r.counted_min, r.counted_max,
    (select min(seq) from book_row where agent_id = $1) as seq_min,
    (select max(seq) from book_row where agent_id = $1) as seq_max,
    coalesce(s.chains, 0) as chains, coalesce(s.corrections, 0) as corrections, coalesce(s.forks, 0) as forks,
    case when s.tips_of = s.corrections then s.tips end as tips,
    (select task_id from book_row where agent_id = $1 and seq = s.last_merge_seq) as last_merge_task_id,
    (select task_id from book_row where agent_id = $1 and seq = s.last_seq) as last_task_id
  from book h
    cross join (select coalesce(sum(count), 0)::int as counted, min(first_seq) as counted_min, max(last_seq) as counted_max
      from book_sum where agent_id = $1 and dimension = '${counted_by}') r
    left join book_supersession s on s.agent_id = h.agent_id and s.original_seq = $2
  where h.agent_id = $1`;
