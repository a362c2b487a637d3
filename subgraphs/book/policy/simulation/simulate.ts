import { type AtomicAmount, atomicAmount } from '../../../../schema/amount.ts';
import { emptyWindow, type Window } from '../../../../schema/clock-window.ts';
import type { Evidence } from '../../../../schema/evidence.ts';
import { operationsAt } from '../../../../schema/paid-operations.ts';
import type { TriedTerms } from '../../../../schema/requests/simulation.ts';
import { STAMPED_BY } from '../../../../schema/route-words.ts';
import { tally } from '../../ledger/counters.ts';
import { type Blocked, evaluate } from '../evaluate.ts';

/* Simulates policies over the rows of a book in order, with the functions that judge calls and count rows. Pure. */

/** A row with an amount or of a call by key, with the members that policies use. */
export interface LedgerRow {
  readonly seq: number;
  readonly task_id: string;
  readonly collected_at: Date;
  /** Null if an API key was used instead of a payment. */
  readonly amount: AtomicAmount | null;
  readonly evidence: Evidence;
  /** Model that answered. Null if none did. */
  readonly model: string | null;
  readonly hub: string | null;
  /** URL at which it was bought. Null if the row does not say. */
  readonly resource: string | null;
}

export interface Counted {
  readonly count: number;
  readonly atomic: AtomicAmount;
}

/** State of a simulation. Refused calls are in none of the counters that judge the next row. */
export interface SimulationState {
  /** Seq of the last row read. */
  readonly seq: number;
  readonly spent_atomic: AtomicAmount;
  readonly hour: Window;
  readonly day: Window;
  /** Judged calls, including refused ones. */
  readonly considered: Counted;
  /** Refused calls by policy code. */
  readonly blocked: Readonly<Record<string, Counted>>;
  /** Judged calls whose operation, as named in `risk_tiers`, is unknown. */
  readonly unknown_operation_count: number;
}

export const nothingCounted: Counted = { count: 0, atomic: atomicAmount(0n) };

/** State before the row after `seq`, with the actual spending until then. */
export function beginSimulation(
  seq: number,
  spent: Pick<SimulationState, 'spent_atomic' | 'hour' | 'day'>,
): SimulationState {
  return { seq, ...spent, considered: nothingCounted, blocked: {}, unknown_operation_count: 0 };
}

export const unspent = { spent_atomic: atomicAmount(0n), hour: emptyWindow, day: emptyWindow };

/** Judges the next row. Null if it would not have been refused. */
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

/** Evidence of calls that a book judged, including calls by key. */
const judgedEvidence: readonly Evidence[] = ['collected', 'RECORDED_BY_SETTLE', 'UNVERIFIED'];

/** Stamps and spending elsewhere were not judged by a book, so they cannot be refused. Stamps count as spent. */
function wasJudged({ evidence, hub }: LedgerRow): boolean {
  return judgedEvidence.includes(evidence) && hub !== STAMPED_BY;
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
