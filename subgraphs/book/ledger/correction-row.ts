import { type InitialFacts, type RowRecord, unknownFacts } from '../../../schema/book-row.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId, TaskId } from '../../../schema/ids.ts';
import type { Tx } from '../../database.ts';
import { appendRow, type EventRecord, type Heads, headOf, storeNewRows } from './append.ts';
import type { RowName } from './correct.ts';
import { supersede } from './supersede.ts';

/* Rows by which this service itself corrects other rows. They take a seq and have no payment. */

/** Content of a correction row. */
export interface CorrectionFacts {
  /** Task id of the correction row. */
  readonly correction_id: TaskId;
  /** Reason for the correction, as a sentence. */
  readonly reason: string;
  /** Further members of `facts`. */
  readonly facts?: JsonObject;
}

/** Correction that was appended to its head but is not stored yet. */
export interface CorrectionRow {
  readonly row: RowRecord;
  readonly event: EventRecord;
  readonly corrects_seq: number;
}

/** Appends the correction after the last event of its book, and replaces the head in `books`. */
export function correctionRow(
  books: Heads,
  { agent_id, seq, task_id }: RowName,
  { correction_id, reason, facts }: CorrectionFacts,
): CorrectionRow {
  const before = headOf(books, agent_id);
  const said = { corrects: task_id, reason, ...facts };
  const birth: InitialFacts = {
    ...unknownFacts,
    task_id: correction_id,
    evidence: 'UNVERIFIED',
    collected: false,
    facts: said,
  };
  const { head, row, event } = appendRow(before, birth, before.now_ms);
  books.set(agent_id, head);
  return { row, event, corrects_seq: seq };
}

/** Stores the correction rows, and links each to the row that it corrects. */
export function storeCorrections(tx: Tx, corrections: readonly CorrectionRow[]): void {
  storeNewRows(
    tx,
    corrections.map(({ row }) => row),
  );
  for (const { row, corrects_seq } of corrections) {
    const { seq } = row;
    const agent_id = row.agent_id as AgentId;
    supersede(tx, { agent_id, seq, original_seq: corrects_seq, corrects_seq, merged_seqs: [], said_hash: null });
  }
}

/** Returns the rows that have no correction yet. Their heads must be locked. */
export async function rowsWithoutCorrection(tx: Tx, rows: readonly RowName[]): Promise<readonly RowName[]> {
  if (rows.length === 0) return [];
  const found = await tx.query<{ agent_id: number; corrects_seq: number }>({
    name: 'corrected rows',
    text: `select agent_id, corrects_seq from book_correction
      where (agent_id, corrects_seq) in (select * from unnest($1::int[], $2::int[]))`,
    values: [rows.map(row => row.agent_id), rows.map(row => row.seq)],
  });
  const corrected = new Set(found.rows.map(({ agent_id, corrects_seq }) => `${agent_id} ${corrects_seq}`));
  return rows.filter(({ agent_id, seq }) => !corrected.has(`${agent_id} ${seq}`));
}
