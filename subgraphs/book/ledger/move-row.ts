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
 * Changes of rows. Columns are the projection; the `transition` event keeps the former values, so that the first one has the
 * original facts from which the hash is computed.
 */

export type StandingRow = RowName & Pick<{ readonly [K in RowColumn]: ColumnValue<K> }, MovableColumn | CountedColumn>;

type MovedRow = RowName & MovableFacts & LaterFacts & { readonly intent_id: string | null };

/** A changed row with its head and event. */
export interface RowChange {
  readonly head: Head;
  readonly event: EventRecord;
  readonly before: StandingRow;
  readonly after: MovedRow;
}

const readColumns = [...new Set(['task_id', ...movableColumns, ...countedNames])];

/** Requires the locks of their heads. */
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

/** A row that loses its amount is not counted any more. */
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

/** Stores the columns of changed rows and the counters; the events are stored with their books. */
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
