import {
  type ColumnValue,
  type LaterFacts,
  laterColumns,
  type MovableColumn,
  type MovableFacts,
  movableColumns,
  type RowColumn,
} from '../../../schema/book-row.ts';
import { mayBecome } from '../../../schema/evidence.ts';
import { iso } from '../../clock.ts';
import type { Tx } from '../../database.ts';
import { appendEvent, countIntents, type EventRecord, type Head, headOf, storeBooks } from './append.ts';
import { lockBooksOf, type RowName } from './correct.ts';
import { tally } from './counters.ts';
import { type CountedColumn, type CountedRow, countedNames, countRows } from './sums.ts';

/** What became of a call that was recorded at settle (RECORDED_BY_SETTLE) before anybody had seen its money arrive. */
export type Arrival = { readonly task_id: string } & (
  | {
      readonly to: 'collected';
      readonly ingress_receipt: { readonly ref: string; readonly confirmed_at: string };
      /** Where the money was seen, if the row does not say so yet. */
      readonly payment_ref?: string;
      readonly transfer_index?: number;
    }
  /** The cutoff passed and nothing was seen: no amount stands on the row any more. */
  | { readonly to: 'ARRIVAL_UNVERIFIED'; readonly omission_rule: string }
);

/**
 * Part of the ledger: moves rows on from RECORDED_BY_SETTLE. The columns are the projection; the `transition` event
 * keeps what the row was born with, so that its hash can be computed again. A row that has moved on already stays.
 */
export async function arrive(tx: Tx, items: readonly Arrival[]): Promise<void> {
  const arrivals = new Map(items.map(item => [item.task_id, item]));
  const { books, rows } = await lockBooksOf(tx, [...arrivals.keys()]);
  const standing = await readRows(tx, rows);
  const moved: MovedRow[] = [];
  const events: EventRecord[] = [];
  const recounted: CountedRow[] = [];
  for (const row of standing) {
    const arrival = arrivals.get(row.task_id);
    if (!arrival || !mayBecome(row.evidence, arrival.to)) continue;
    const { head, event, after } = transition(headOf(books, row.agent_id), row, arrival);
    books.set(row.agent_id, head);
    events.push(event);
    moved.push(after);
    recounted.push({ ...row, times: -1 }, { ...row, ...after, times: 1 });
  }
  if (moved.length === 0) return;
  storeRows(tx, moved);
  countRows(tx, recounted);
  countIntents(
    tx,
    moved.filter(row => row.collected),
  );
  storeBooks(tx, books, events);
}

type StandingRow = RowName & Pick<{ readonly [K in RowColumn]: ColumnValue<K> }, MovableColumn | CountedColumn>;

type MovedRow = RowName & MovableFacts & LaterFacts & { readonly intent_id: string | null };

const readColumns = [...new Set(['task_id', ...movableColumns, ...countedNames])];

async function readRows(tx: Tx, rows: readonly RowName[]): Promise<readonly StandingRow[]> {
  if (rows.length === 0) return [];
  const found = await tx.query<StandingRow>({
    name: 'rows to move',
    text: `select ${readColumns.join(', ')}
      from book_row where (agent_id, seq) in (select * from unnest($1::int[], $2::int[])) order by agent_id, seq`,
    values: [rows.map(row => row.agent_id), rows.map(row => row.seq)],
  });
  return found.rows;
}

function transition(
  head: Head,
  row: StandingRow,
  arrival: Arrival,
): { head: Head; event: EventRecord; after: MovedRow } {
  const { agent_id, seq, task_id, intent_id, rail, model, hub, payer_wallet, collected_at, amount, ...facts } = row;
  const born: MovableFacts = { ...facts, amount: amount?.toString() ?? null };
  const { ingress_receipt, omission_rule, ...is } = outcome(born, arrival);
  const body = { ...is, ingress_receipt, omission_rule, born: { ...born } };
  const counted =
    arrival.to === 'ARRIVAL_UNVERIFIED' ? tally(head, { amount, rail }, collected_at.getTime(), -1) : head;
  const happened = appendEvent(counted, { kind: 'transition', seq, task_id, body }, iso(head.now_ms));
  return { ...happened, after: { agent_id, seq, task_id, intent_id, ...is, ingress_receipt, omission_rule } };
}

function outcome(born: MovableFacts, arrival: Arrival): MovableFacts & LaterFacts {
  if (arrival.to === 'ARRIVAL_UNVERIFIED') {
    const { omission_rule } = arrival;
    const nothing = { evidence: arrival.to, collected: false, amount: null, arrival_status: 'unverified' } as const;
    return { ...born, ...nothing, ingress_receipt: null, omission_rule };
  }
  return {
    ...born,
    evidence: arrival.to,
    collected: true,
    arrival_status: 'confirmed',
    payment_ref: arrival.payment_ref ?? born.payment_ref,
    transfer_index: arrival.transfer_index ?? born.transfer_index,
    ingress_receipt: { ...arrival.ingress_receipt },
    omission_rule: null,
  };
}

function storeRows(tx: Tx, rows: readonly MovedRow[]): void {
  tx.write({
    name: 'move rows on',
    text: `update book_row r set ${[...movableColumns, ...laterColumns].map(name => `${name} = n.${name}`).join(', ')}
      from jsonb_populate_recordset(null::book_row, $1::jsonb) n where r.agent_id = n.agent_id and r.seq = n.seq`,
    values: [JSON.stringify(rows)],
  });
}
