import {
  type ColumnValue,
  type LaterFacts,
  laterColumns,
  type MovableColumn,
  type MovableFacts,
  movableColumns,
  type RowColumn,
} from '../../../schema/book-row.ts';
import { iso } from '../../clock.ts';
import type { Tx } from '../../database.ts';
import { appendEvent, type EventRecord, type Head } from './append.ts';
import type { RowName } from './correct.ts';
import { tally } from './counters.ts';
import { type CountedColumn, type CountedRow, countedNames, countRows } from './sums.ts';

/*
 * Changes of rows. The columns have the current values. Each `transition` event keeps the values before it, so the first one has
 * the original facts from which the hash of the row was computed.
 */

export type StandingRow = RowName & Pick<{ readonly [K in RowColumn]: ColumnValue<K> }, MovableColumn | CountedColumn>;

type MovedRow = RowName & MovableFacts & LaterFacts & { readonly intent_id: string | null };

/** Changed row, with the head after the change and the event that records it. */
export interface RowChange {
  readonly head: Head;
  readonly event: EventRecord;
  readonly before: StandingRow;
  readonly after: MovedRow;
}

const readColumns = [...new Set(['task_id', ...movableColumns, ...countedNames])];

/** Returns the rows as they are stored now. The caller must have locked their heads. */
export async function standingRows(tx: Tx, rows: readonly RowName[]): Promise<readonly StandingRow[]> {
  if (rows.length === 0) return [];
  const found = await tx.query<StandingRow>({
    name: 'rows to move',
    text: `select ${readColumns.join(', ')}
      from book_row where (agent_id, seq) in (select * from unnest($1::int[], $2::int[])) order by agent_id, seq`,
    values: [rows.map(row => row.agent_id), rows.map(row => row.seq)],
  });
  return found.rows;
}

/** Changes a row and appends its `transition` event. A row that loses its amount is removed from the counters. */
export function moveRow(
  head: Head,
  row: StandingRow,
  becomes: (born: MovableFacts) => MovableFacts & LaterFacts,
): RowChange {
  const { agent_id, seq, task_id, intent_id, rail, model, hub, payer_wallet, collected_at, amount, ...facts } = row;
  const { evidence } = facts;
  const born: MovableFacts = { ...facts, amount: amount?.toString() ?? null };
  const { ingress_receipt, omission_rule, ...is } = becomes(born);
  const body = { ...is, ingress_receipt, omission_rule, born: { ...born } };
  const counted = is.amount === null ? tally(head, { amount, rail, evidence }, collected_at.getTime(), -1) : head;
  const happened = appendEvent(counted, { kind: 'transition', seq, task_id, body }, iso(head.now_ms));
  const after = { agent_id, seq, task_id, intent_id, ...is, ingress_receipt, omission_rule };
  return { ...happened, before: row, after };
}

/** Stores the columns of changed rows and their sums. The events are stored with their books (`storeBooks`). */
export function storeMoved(tx: Tx, moved: readonly RowChange[]): void {
  tx.write({
    name: 'move rows on',
    text: `update book_row r set ${[...movableColumns, ...laterColumns].map(name => `${name} = n.${name}`).join(', ')}
      from jsonb_populate_recordset(null::book_row, $1::jsonb) n where r.agent_id = n.agent_id and r.seq = n.seq`,
    values: [JSON.stringify(moved.map(({ after }) => after))],
  });
  countRows(
    tx,
    moved.flatMap(({ before, after }): CountedRow[] => [
      { ...before, times: -1 },
      { ...before, ...after, times: 1 },
    ]),
  );
}
