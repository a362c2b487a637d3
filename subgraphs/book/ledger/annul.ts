import type { LaterFacts, MovableFacts } from '../../../schema/book-row.ts';
import type { AgentId, TaskId } from '../../../schema/ids.ts';
import type { Tx } from '../../database.ts';
import { type EventRecord, headOf, storeBooks } from './append.ts';
import { lockBooksOf, type RowName } from './correct.ts';
import { type CorrectionRow, correctionRow, rowsWithoutCorrection, storeCorrections } from './correction-row.ts';
import { moveRow, type RowChange, standingRows, storeMoved } from './move-row.ts';

/** Row whose payment is not and will not be on its chain. */
export interface Annulment {
  /** Task id of the row. */
  readonly task_id: string;
  /** Task id of the correction, which is a row itself. */
  readonly correction_id: TaskId;
  /** Code of the reason why the row has no amount. */
  readonly omission_rule: string;
  /** Reason for the correction, as a sentence. */
  readonly reason: string;
}

/** Correction that was appended. */
export interface AnnulOutcome extends RowName {
  readonly corrects_seq: number;
}

/**
 * Appends a correction to a row and removes the amount of the row from all counters. The original facts of the row remain in its
 * event, and its hash still covers them. Like a row whose payment never arrived, it shows no amount, so that the rows still add up
 * to the totals. A row is corrected once: under the head's lock, a second attempt finds the first correction. This also works on a
 * book that the audit closed, because no new spending is recorded.
 */
export async function annul(tx: Tx, items: readonly Annulment[]): Promise<readonly AnnulOutcome[]> {
  const annulments = new Map(items.map(item => [item.task_id, item]));
  const { books, rows } = await lockBooksOf(tx, [...annulments.keys()]);
  const standing = await standingRows(tx, await rowsWithoutCorrection(tx, rows));
  const moved: RowChange[] = [];
  const corrections: CorrectionRow[] = [];
  for (const row of standing) {
    const annulment = annulments.get(row.task_id);
    if (!annulment) continue;
    const one = moveRow(headOf(books, row.agent_id), row, born => withoutArrival(born, annulment));
    books.set(row.agent_id, one.head);
    moved.push(one);
    const { correction_id, reason } = annulment;
    corrections.push(correctionRow(books, row, { correction_id, reason }));
  }
  if (moved.length === 0) return [];
  storeMoved(tx, moved);
  storeCorrections(tx, corrections);
  const events = corrections.flatMap(({ event }, index): EventRecord[] => {
    const transition = moved[index]?.event;
    return transition ? [transition, event] : [event];
  });
  storeBooks(tx, books, events);
  return corrections.map(({ row: { agent_id, seq, task_id }, corrects_seq }) => {
    return { agent_id: agent_id as AgentId, seq, task_id, corrects_seq };
  });
}

/** Facts of an annulled row. The evidence stays, and the arrival is removed. */
function withoutArrival(born: MovableFacts, { omission_rule }: Annulment): MovableFacts & LaterFacts {
  const nothing = { collected: false, amount: null, arrival_status: 'unverified' } as const;
  return { ...born, ...nothing, ingress_receipt: null, omission_rule };
}
