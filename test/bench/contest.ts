import type { Stage } from './stage.ts';

/** Measurements of one round of one side. */
export interface Measured {
  readonly operations: number;
  readonly seconds: number;
  /** User and system time of the side's server processes, without that of the process that makes the load. */
  readonly cpu_us: number;
  /** Other counts, by name. */
  readonly counts: Readonly<Record<string, number>>;
}

export interface Side {
  /** What comes before the measurement (signing payments, opening sockets) belongs to the round and is not measured. */
  round(): Promise<Measured>;
}

export interface Sides {
  /** Null if it cannot be measured yet; the line says why. */
  readonly ours: Side | null;
  /** Null if the figure has nothing to be compared with. */
  readonly beside: Side | null;
}

export type Goal =
  | { readonly kind: 'times_at_least'; readonly factor: number }
  | { readonly kind: 'times_at_most'; readonly factor: number }
  | { readonly kind: 'at_most'; readonly value: number }
  | { readonly kind: 'at_least'; readonly value: number };

/** One line of the table: a figure computed from each round of both sides. */
export interface Line {
  readonly name: string;
  readonly unit: string;
  readonly goal: Goal;
  /** Whether the figure is not compared with the other side's. */
  readonly alone?: boolean;
  of(measured: Measured): number;
  /** CPU of our processes per operation, if a round does several kinds of work. Default: that of the whole round. */
  cpuUs?(measured: Measured): number;
}

export interface Arena {
  readonly stage: Stage;
  /** Closes with the contest what was opened for it alone. */
  readonly closing: AsyncDisposableStack;
  readonly quick: boolean;
  /** Length of a round that ends by time. */
  readonly seconds: number;
}

/** Our side and what it is compared with, at the same work. */
export interface Contest {
  readonly name: string;
  /** What the other side is. */
  readonly beside: string;
  readonly lines: readonly Line[];
  /** Why there is no figure of ours yet. */
  readonly note?: string;
  /** It waits for a chain's blocks, not for a processor: it needs no warm-up, and the others open meanwhile. */
  readonly waits?: boolean;
  /** Lines of a quick run that does less work. */
  readonly quick_lines?: readonly Line[];
  open(arena: Arena): Promise<Sides>;
}

export const perSecond = ({ operations, seconds }: Measured): number => operations / seconds;
export const perCpuSecond = ({ operations, cpu_us }: Measured): number => (operations / cpu_us) * 1e6;
export const cpuMs = ({ operations, cpu_us }: Measured): number => cpu_us / operations / 1000;

export const atLeast = (factor: number): Goal => ({ kind: 'times_at_least', factor });
export const atMost = (factor: number): Goal => ({ kind: 'times_at_most', factor });
