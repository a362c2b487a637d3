import type { Goal, Line, Measured, Side, Sides } from './contest.ts';

/** One line of the table with its figures. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  /** Null if it could not be measured. The note then gives the reason. */
  readonly ours: number | null;
  readonly beside: number | null;
  /** Our figure divided by the other side's. */
  readonly ratio: number | null;
  readonly goal: string;
  readonly reached: boolean;
  /** CPU microseconds of our server processes per operation. */
  readonly cpu_us: number | null;
  readonly note?: string;
}

export interface Rounds {
  readonly ours: readonly Measured[];
  readonly beside: readonly Measured[];
}

/**
 * Alternates rounds of both sides, so that anything that slows the machine for a while affects both. The first round of each side warms up
 * compiled code and caches and is not counted.
 */
export async function alternate({ ours, beside }: Sides, rounds: number, warms_up: boolean): Promise<Rounds> {
  const taken = { ours: [] as Measured[], beside: [] as Measured[] };
  for (let round = warms_up ? -1 : 0; round < rounds; round++) {
    await play(ours, taken.ours, round);
    await play(beside, taken.beside, round);
  }
  return taken;
}

async function play(side: Side | null, taken: Measured[], round: number): Promise<void> {
  const measured = await side?.round();
  if (measured && round >= 0) taken.push(measured);
}

export function figure(
  { name, unit, goal, of, alone, cpuUs = cpuPerOperation }: Line,
  { ours, beside }: Rounds,
): Figure {
  const [own, other] = [median(ours.map(of)), alone ? null : median(beside.map(of))];
  const ratio = own !== null && other !== null ? own / other : null;
  const cpu_us = median(ours.map(cpuUs));
  return {
    name,
    unit,
    ours: own,
    beside: other,
    ratio,
    goal: goalText(goal),
    reached: reaches(goal, own, ratio),
    cpu_us,
  };
}

const cpuPerOperation = ({ cpu_us, operations }: Measured): number => cpu_us / operations;

/** The figure of a line that could not be measured. */
export function missingFigure({ name, unit, goal }: Line, note: string): Figure {
  const nothing = { ours: null, beside: null, ratio: null, cpu_us: null };
  return { name, unit, ...nothing, goal: goalText(goal), reached: false, note };
}

function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}

function reaches(goal: Goal, ours: number | null, ratio: number | null): boolean {
  switch (goal.kind) {
    case 'times_at_least':
      return ratio !== null && ratio >= goal.factor;
    case 'times_at_most':
      return ratio !== null && ratio <= goal.factor;
    case 'at_most':
      return ours !== null && ours <= goal.value;
    case 'at_least':
      return ours !== null && ours >= goal.value;
  }
}

function goalText(goal: Goal): string {
  switch (goal.kind) {
    case 'times_at_least':
      return `≥ ${two(goal.factor)} ×`;
    case 'times_at_most':
      return `≤ ${two(goal.factor)} ×`;
    case 'at_most':
      return `≤ ${goal.value}`;
    case 'at_least':
      return `≥ ${goal.value.toLocaleString('en')}`;
  }
}

/** Text of a factor with at most two decimals, such as 0.33 for a third. */
function two(factor: number): string {
  return String(Number(factor.toFixed(2)));
}
