import type { Evidence } from '../../../schema/evidence.ts';
import { limits } from '../../../schema/limits.ts';
import type { SpendKind } from '../../../schema/requests/journal-accounts.ts';
import { BOARD_MODEL, REGISTER_MODEL, STAMPED_BY } from '../../../schema/route-words.ts';

/* Kind of the spending of a row, by stored facts that rows of every age have. */

/** Facts of a row that has an amount or had one until it was given up. */
export interface SpentRow {
  readonly evidence: Evidence;
  /** The model member if the hub of the row is this service. Null for any other hub or none. */
  readonly stamped: string | null;
  /** Whether the row names a payee. Of payments here only the price of a job does. */
  readonly has_payee: boolean;
  /** Amount compared with the price of a stamp: -1 less, 0 equal, 1 more. */
  readonly against_stamp: number;
}

/** Evidence of rows paid through this service. A given-up row moves to the last of these and keeps its kind. */
const paid_here: readonly Evidence[] = ['collected', 'RECORDED_BY_SETTLE', 'ARRIVAL_UNVERIFIED'];

const sold_here: ReadonlyMap<string, (row: SpentRow) => SpendKind> = new Map([
  [BOARD_MODEL, kindOnBoard],
  [REGISTER_MODEL, () => 'fees'],
]);

/**
 * The kind of a row's spending. No hub has the name of this service, so any other hub, and a row without one, is a call: every
 * other sale names its route before it is paid. What matches nothing is `other`.
 */
export function spendKind(row: SpentRow): SpendKind {
  if (row.evidence === 'foreign_ingest') return 'foreign';
  if (!paid_here.includes(row.evidence)) return 'other';
  if (row.stamped === null) return 'inference';
  return sold_here.get(row.stamped)?.(row) ?? 'other';
}

/**
 * A stamp and the fee of a job have the same route. All stamps had the same price, and a fee is always more: a stamp plus one per
 * cent of at least one unit, rounded up. If the price of a stamp changes, new rows must name their sale.
 */
function kindOnBoard({ has_payee, against_stamp }: SpentRow): SpendKind {
  if (has_payee) return 'jobs';
  if (against_stamp === 0) return 'stamps';
  return against_stamp > 0 ? 'fees' : 'other';
}

/** The same facts in SQL, for a row `r` with that amount. */
export function spentColumns(amount: string): string {
  return `r.evidence, case when r.hub = '${STAMPED_BY}' then coalesce(r.model, '') end as stamped,
    r.facts->>'pay_to' is not null as has_payee, sign(${amount} - ${limits.stamp_price_atomic})::int as against_stamp`;
}

/** These columns. Rows that differ in one of them are summed separately. */
export const spentNames = 'evidence, stamped, has_payee, against_stamp';
