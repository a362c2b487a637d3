import type { LaterFacts, MovableFacts } from '../../../schema/book-row.ts';
import type { AgentId, TaskId } from '../../../schema/ids.ts';
import type { Tx } from '../../database.ts';
import { type EventRecord, headOf, storeBooks } from './append.ts';
import { lockBooksOf, type RowName } from './correct.ts';
import { type CorrectionRow, correctionRow, rowsWithoutCorrection, storeCorrections } from './correction-row.ts';
import { moveRow, type RowChange, standingRows, storeMoved } from './move-row.ts';

/** A row whose payment is not and will not be on its chain. */
export interface Annulment {
  /** Task of the row. */
  readonly task_id: string;
  /** Task of its correction, which is a row of its own. */
  readonly correction_id: TaskId;
  /** Code of the reason why the row has no amount. */
  readonly omission_rule: string;
  /** The reason in a sentence. */
  readonly reason: string;
}

/** An appended correction. */
export interface AnnulOutcome extends RowName {
  readonly corrects_seq: number;
}

/**
 * Appends a correction to a row and removes its amount from all counters. The row keeps its original facts by its hash and its
 * event; like a payment that never arrived it shows no amount, so that rows still add up. A row is corrected once: under the head's
 * lock a second attempt finds the first. Works on a closed book too, because it records nothing new.
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

/** The evidence stays; the arrival does not. */
function withoutArrival(born: MovableFacts, { omission_rule }: Annulment): MovableFacts & LaterFacts {
  const nothing = { collected: false, amount: null, arrival_status: 'unverified' } as const;
  return { ...born, ...nothing, ingress_receipt: null, omission_rule };
}
