import { type AtomicAmount, atomicAmount } from '../../../../schema/amount.ts';
import { emptyWindow, type Window } from '../../../../schema/clock-window.ts';
import type { Evidence } from '../../../../schema/evidence.ts';
import { operationsAt } from '../../../../schema/paid-operations.ts';
import type { TriedTerms } from '../../../../schema/requests/simulation.ts';
import { STAMPED_BY } from '../../../../schema/route-words.ts';
import { tally } from '../../ledger/counters.ts';
import { type Blocked, evaluate } from '../evaluate.ts';

/*
 * What policies would have refused of the calls that a book let pass: its rows once more, in their order, through the very
 * function that judges calls and the one that counts rows. Pure.
 */

/** A row that carries an amount, or is of a call that a key stood in for, as far as policies look at it. */
export interface LedgerRow {
  readonly seq: number;
  readonly task_id: string;
  readonly collected_at: Date;
  /** Null where a key stood in for the payment. */
  readonly amount: AtomicAmount | null;
  readonly evidence: Evidence;
  /** That answered; null where none did. */
  readonly model: string | null;
  readonly hub: string | null;
  /** The URL at which it was bought; null where the row does not say. */
  readonly resource: string | null;
}

export interface Counted {
  readonly count: number;
  readonly atomic: AtomicAmount;
}

/** How far a simulation has come. What was blocked is in none of the counters by which the next row is judged. */
export interface SimulationState {
  /** Of the last row that was looked at. */
  readonly seq: number;
  readonly spent_atomic: AtomicAmount;
  readonly hour: Window;
  readonly day: Window;
  /** Calls that were judged, blocked ones included. */
  readonly considered: Counted;
  /** By policy code. */
  readonly blocked: Readonly<Record<string, Counted>>;
  /** Of those that were judged: nobody knows what they are called in `risk_tiers`. */
  readonly unknown_operation_count: number;
}

export const nothingCounted: Counted = { count: 0, atomic: atomicAmount(0n) };

/** Before the row behind `seq`, with what was really spent until then. */
export function beginSimulation(
  seq: number,
  spent: Pick<SimulationState, 'spent_atomic' | 'hour' | 'day'>,
): SimulationState {
  return { seq, ...spent, considered: nothingCounted, blocked: {}, unknown_operation_count: 0 };
}

export const unspent = { spent_atomic: atomicAmount(0n), hour: emptyWindow, day: emptyWindow };

/** The next row, and why it would have been refused; null where it would not. */
export function simulateRow(
  state: SimulationState,
  tried: TriedTerms,
  row: LedgerRow,
): { readonly state: SimulationState; readonly blocked: Blocked | null } {
  const { seq, amount, model } = row;
  if (!wasJudged(row)) return { state: { ...spentBy(state, row), seq }, blocked: null };
  const operations = operationsAt(row.resource ?? '');
  const ceilings = {
    ...tried,
    spent_atomic: state.spent_atomic,
    reserved_atomic: atomicAmount(0n),
    hour: state.hour,
    day: state.day,
    now_ms: row.collected_at.getTime(),
  };
  const evaluation = evaluate(ceilings, { amount, models: model === null ? [] : [model], operations, approval: null });
  const judged = {
    ...state,
    seq,
    considered: add(state.considered, amount),
    unknown_operation_count: state.unknown_operation_count + (operations.length === 0 ? 1 : 0),
  };
  if (evaluation.kind === 'admitted') return { state: spentBy(judged, row), blocked: null };
  const { policy_code } = evaluation;
  const before = state.blocked[policy_code] ?? nothingCounted;
  return {
    state: { ...judged, blocked: { ...state.blocked, [policy_code]: add(before, amount) } },
    blocked: evaluation,
  };
}

/** Those that a book was asked about, by key too. */
const asked: readonly Evidence[] = ['collected', 'RECORDED_BY_SETTLE', 'UNVERIFIED'];

/** What no book was asked about could not have been refused: stamps, which count as spent, and what was spent elsewhere. */
function wasJudged({ evidence, hub }: LedgerRow): boolean {
  return asked.includes(evidence) && hub !== STAMPED_BY;
}

function spentBy(state: SimulationState, { amount, evidence, collected_at }: LedgerRow): SimulationState {
  const { by_rail: _, ...counted } = tally(
    { ...state, by_rail: {} },
    { amount, evidence, rail: null },
    collected_at.getTime(),
    1,
  );
  return counted;
}

export function add({ count, atomic }: Counted, amount: bigint | null): Counted {
  return { count: count + 1, atomic: atomicAmount(atomic + (amount ?? 0n)) };
}
