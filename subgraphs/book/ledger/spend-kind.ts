import type { Evidence } from '../../../schema/evidence.ts';
import { limits } from '../../../schema/limits.ts';
import type { SpendKind } from '../../../schema/requests/journal-accounts.ts';
import { BOARD_MODEL, REGISTER_MODEL, STAMPED_BY } from '../../../schema/route-words.ts';

/* Finds the kind of spending of a row from stored facts that the oldest rows also have. */

/** Facts of a row that has an amount, or had one until the amount was given up. */
export interface SpentRow {
  readonly evidence: Evidence;
  /** Model of the row if its hub is this service. Null if it has another hub or none. */
  readonly stamped: string | null;
  /** Whether the row names a payee. Of the payments through this service, only the price of a job does. */
  readonly has_payee: boolean;
  /** Comparison of the amount with the price of a stamp: -1 if less, 0 if equal, 1 if more. */
  readonly against_stamp: number;
}

/**
 * Evidence of rows paid through this service. A row whose amount is given up changes to the last of these, and keeps its kind of
 * spending.
 */
const paid_here: readonly Evidence[] = ['collected', 'RECORDED_BY_SETTLE', 'ARRIVAL_UNVERIFIED'];

const sold_here: ReadonlyMap<string, (row: SpentRow) => SpendKind> = new Map([
  [BOARD_MODEL, kindOnBoard],
  [REGISTER_MODEL, () => 'fees'],
]);

/**
 * Kind of a row's spending. A row with another hub, or with none, is a call: no hub has the name of this service, and every other
 * sale names its route before it is paid. A row that matches no kind is `other`.
 */
export function spendKind(row: SpentRow): SpendKind {
  if (row.evidence === 'foreign_ingest') return 'foreign';
  if (!paid_here.includes(row.evidence)) return 'other';
  if (row.stamped === null) return 'inference';
  return sold_here.get(row.stamped)?.(row) ?? 'other';
}

/**
 * A stamp and the fee of a job have the same route, so the amount decides. All stamps had the same price. A fee is always more,
 * because it is a stamp plus one per cent of a price of at least one unit, rounded up. If the price of a stamp changes, new rows
 * must name their sale.
 */
function kindOnBoard({ has_payee, against_stamp }: SpentRow): SpendKind {
  if (has_payee) return 'jobs';
  if (against_stamp === 0) return 'stamps';
  return against_stamp > 0 ? 'fees' : 'other';
}

/** SQL for the members of `SpentRow`, read from a row `r` with that amount. */
export function spentColumns(amount: string): string {
  return `r.evidence, case when r.hub = '${STAMPED_BY}' then coalesce(r.model, '') end as stamped,
    r.facts->>'pay_to' is not null as has_payee, sign(${amount} - ${limits.stamp_price_atomic})::int as against_stamp`;
}

/** Names of these columns. Rows that differ in one of them are summed separately. */
export const spentNames = 'evidence, stamped, has_payee, against_stamp';
