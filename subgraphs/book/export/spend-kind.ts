import type { Evidence } from '../../../schema/evidence.ts';
import { limits } from '../../../schema/limits.ts';
import type { SpendKind } from '../../../schema/requests/journal-accounts.ts';
import { BOARD_MODEL, REGISTER_MODEL, STAMPED_BY } from '../../../schema/route-words.ts';

/* What the amount of a row was spent on, by what is stored of it. Rows of all ages have these facts, so none is guessed. */

/** What is looked at of a row that has an amount, or had one until it was given up. */
export interface SpentRow {
  readonly evidence: Evidence;
  /** What stands in place of a model, where the row's hub is this service itself; null where it is any other, or none. */
  readonly stamped: string | null;
  /** Whether the row names a payee: of what was paid here, only the price of a job does. */
  readonly has_payee: boolean;
  /** The amount against the price of a stamp: -1 less, 0 equal, 1 more. */
  readonly against_stamp: number;
}

/** Of rows whose money came through this service; a given-up one moves to the last of these, and stays of its kind. */
const paid_here: readonly Evidence[] = ['collected', 'RECORDED_BY_SETTLE', 'ARRIVAL_UNVERIFIED'];

const sold_here: ReadonlyMap<string, (row: SpentRow) => SpendKind> = new Map([
  [BOARD_MODEL, kindOnBoard],
  [REGISTER_MODEL, () => 'fees'],
]);

/**
 * The kind of a row's spend. No hub is called as this service is, so any other hub answered a call; and so did one that is not named,
 * because every other sale names its route before it is paid for. What fits nowhere is `other`: never guessed.
 */
export function spendKind(row: SpentRow): SpendKind {
  if (row.evidence === 'foreign_ingest') return 'foreign';
  if (!paid_here.includes(row.evidence)) return 'other';
  if (row.stamped === null) return 'inference';
  return sold_here.get(row.stamped)?.(row) ?? 'other';
}

/**
 * A stamp and the fee of a job have the same route. Every stamp has had the same price, and a fee is always more: a stamp, and one
 * per cent of a price of at least one unit, rounded up. If a stamp ever has another price, new rows have to name their sale.
 */
function kindOnBoard({ has_payee, against_stamp }: SpentRow): SpendKind {
  if (has_payee) return 'jobs';
  if (against_stamp === 0) return 'stamps';
  return against_stamp > 0 ? 'fees' : 'other';
}

/** The same in SQL, of a row `r` with that amount. */
export function spentColumns(amount: string): string {
  return `r.evidence, case when r.hub = '${STAMPED_BY}' then coalesce(r.model, '') end as stamped,
    r.facts->>'pay_to' is not null as has_payee, sign(${amount} - ${limits.stamp_price_atomic})::int as against_stamp`;
}

/** Those columns: rows that differ in one of them are added up apart. */
export const spentNames = 'evidence, stamped, has_payee, against_stamp';
