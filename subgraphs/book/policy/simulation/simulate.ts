import { type AtomicAmount, atomicAmount, remainder } from '../../../../schema/amount.ts';
import { emptyWindow, type Window } from '../../../../schema/clock-window.ts';
import type { Evidence } from '../../../../schema/evidence.ts';
import { operationsAt } from '../../../../schema/paid-operations.ts';
import type { TriedTerms } from '../../../../schema/requests/simulation.ts';
import { BOARD_MODEL } from '../../../../schema/route-words.ts';
import type { JobKind } from '../../../sale.ts';
import { tally } from '../../ledger/counters.ts';
import { type SpentRow, spendKind } from '../../ledger/spend-kind.ts';
import { type Blocked, evaluate } from '../evaluate.ts';

/* Simulates policies over the rows of a book in order, with the functions that judge calls and count rows. The functions are pure. */

/** Members of a row that policies use. The row has an amount, or its evidence is `UNVERIFIED` and it corrects no other row. */
export interface LedgerRow extends SpentRow {
  readonly seq: number;
  readonly task_id: string;
  readonly collected_at: Date;
  /** Null if an API key was used instead of a payment. */
  readonly amount: AtomicAmount | null;
  /** Fee of the job, if the row is the payment to the winner of a job. Null for any other row. */
  readonly fee: AtomicAmount | null;
  /** Model that answered. Null if none did. */
  readonly model: string | null;
  readonly hub: string | null;
  readonly job_kind: string | null;
  /** Whether the receipt of the row opened the book, so that it was paid before the book existed. */
  readonly opened_book: boolean;
  /** URL of the paid endpoint. Null if the row does not record it. */
  readonly resource: string | null;
}

export interface CountedSum {
  readonly count: number;
  readonly atomic: AtomicAmount;
}

/** State of a simulation. Refused calls do not count as spent, so they do not affect how the next row is judged. */
export interface SimulationState {
  /** Seq of the last row read. */
  readonly seq: number;
  readonly spent_atomic: AtomicAmount;
  readonly hour: Window;
  readonly day: Window;
  /** Number and amount of the judged calls, including refused ones. */
  readonly considered: CountedSum;
  /** Refused calls by policy code. */
  readonly blocked: Readonly<Record<string, CountedSum>>;
  /** Number of judged calls whose operation (a name in `risk_tiers`) is unknown. */
  readonly unknown_operation_count: number;
}

export const nothingCounted: CountedSum = { count: 0, atomic: atomicAmount(0n) };

/** State of a simulation that begins with the row after `seq`. @param spent actual spending before that row */
export function beginSimulation(
  seq: number,
  spent: Pick<SimulationState, 'spent_atomic' | 'hour' | 'day'>,
): SimulationState {
  return { seq, ...spent, considered: nothingCounted, blocked: {}, unknown_operation_count: 0 };
}

export const unspent = { spent_atomic: atomicAmount(0n), hour: emptyWindow, day: emptyWindow };

/** Judges the next row. `blocked` is null if the call would not have been refused. */
export function simulateRow(
  state: SimulationState,
  tried: TriedTerms,
  row: LedgerRow,
): { readonly state: SimulationState; readonly blocked: Blocked | null } {
  const { seq, model, fee, stamped } = row;
  if (!wasJudged(row)) return { state: { ...spentBy(state, row), seq }, blocked: null };
  const amount = judgedAmount(row);
  // A stamp involves no model and no operation that `risk_tiers` may list.
  const is_stamp = stamped !== null;
  const operations = is_stamp ? [] : operationsAt(row.resource ?? '');
  const before = withoutFee(state, fee);
  const ceilings = {
    ...tried,
    spent_atomic: before.spent_atomic,
    reserved_atomic: atomicAmount(0n),
    hour: before.hour,
    day: before.day,
    now_ms: row.collected_at.getTime(),
  };
  const models = is_stamp || model === null ? [] : [model];
  const evaluation = evaluate(ceilings, { amount, models, operations, approval: null });
  const judged = {
    seq,
    considered: add(state.considered, amount),
    unknown_operation_count: state.unknown_operation_count + (!is_stamp && operations.length === 0 ? 1 : 0),
  };
  if (evaluation.kind === 'admitted') return { state: { ...spentBy(state, row), ...judged }, blocked: null };
  const { policy_code } = evaluation;
  const blocked = { ...state.blocked, [policy_code]: add(state.blocked[policy_code] ?? nothingCounted, amount) };
  return { state: { ...before, ...judged, blocked }, blocked: evaluation };
}

/** Amount that the book judged. For the first payment of a job it includes the fee, which is reserved with it. Null for an API key. */
export function judgedAmount({ amount, fee }: Pick<LedgerRow, 'amount' | 'fee'>): AtomicAmount | null {
  return amount === null ? null : atomicAmount(amount + (fee ?? 0n));
}

/**
 * Subtracts the fee of a job, whose row was read just before the row of the payment to the winner. A sum that begins between the two rows
 * does not include the fee, so no sum is reduced below zero.
 */
function withoutFee(state: SimulationState, fee: AtomicAmount | null): SimulationState {
  if (fee === null) return state;
  const { spent_atomic, hour, day } = state;
  return {
    ...state,
    spent_atomic: remainder(spent_atomic, fee),
    hour: { ...hour, atomic: remainder(hour.atomic, fee) },
    day: { ...day, atomic: remainder(day.atomic, fee) },
  };
}

/** Evidence of calls that a book judged, including calls with an API key. */
const judgedEvidence: readonly Evidence[] = ['collected', 'RECORDED_BY_SETTLE', 'UNVERIFIED'];

/**
 * Whether the book judged the call of a row. It did not judge registrations, the receipt that opened the book, or spending elsewhere. The
 * fee of a job was judged with its first payment.
 */
function wasJudged(row: LedgerRow): boolean {
  const { evidence, amount, stamped, opened_book } = row;
  if (!judgedEvidence.includes(evidence) || opened_book) return false;
  if (amount === null) return isCallByKey(row);
  return stamped === null || (stamped === BOARD_MODEL && spendKind(row) !== 'fees');
}

/**
 * Whether a row without a payment is a call with an API key. The other such rows are generations that a router reported, and redeemed
 * hand-offs, which have no hub and no model.
 */
function isCallByKey({ hub, model, job_kind }: LedgerRow): boolean {
  return job_kind !== ROUTER_REPORT && !(hub === '' && model === '');
}
const ROUTER_REPORT: JobKind = 'router_broadcast';

function spentBy(state: SimulationState, { amount, evidence, collected_at }: LedgerRow): SimulationState {
  const { by_rail: _, ...counted } = tally(
    { ...state, by_rail: {} },
    { amount, evidence, rail: null },
    collected_at.getTime(),
    1,
  );
  return counted;
}

export function add({ count, atomic }: CountedSum, amount: bigint | null): CountedSum {
  return { count: count + 1, atomic: atomicAmount(atomic + (amount ?? 0n)) };
}
