import type { Stage } from './stage.ts';

/** Measurements of one round of one side. */
export interface Measured {
  readonly operations: number;
  readonly seconds: number;
  /** CPU microseconds of the side's server processes, without the process that makes the load. */
  readonly cpu_us: number;
  /** Further counts by name. */
  readonly counts: Readonly<Record<string, number>>;
}

export interface Side {
  /** Runs one round. Preparations such as signing payments and opening sockets are part of it, but not measured. */
  round(): Promise<Measured>;
}

export interface Sides {
  /** Null if our side cannot be measured. The line then gives the reason. */
  readonly ours: Side | null;
  /** Null if the figure has no other side. */
  readonly beside: Side | null;
}

export type Goal =
  | { readonly kind: 'times_at_least'; readonly factor: number }
  | { readonly kind: 'times_at_most'; readonly factor: number }
  | { readonly kind: 'at_most'; readonly value: number }
  | { readonly kind: 'at_least'; readonly value: number };

/** One line of the table: a figure that is computed from each round of both sides. */
export interface Line {
  readonly name: string;
  readonly unit: string;
  readonly goal: Goal;
  /** Whether the figure is shown without the other side's. */
  readonly alone?: boolean;
  of(measured: Measured): number;
  /** CPU microseconds of our processes per operation, if a round does several kinds of work. Default: those of the whole round. */
  cpuUs?(measured: Measured): number;
}

export interface Arena {
  readonly stage: Stage;
  /** Closes everything that was opened for this contest only. */
  readonly closing: AsyncDisposableStack;
  readonly quick: boolean;
  /** Length in seconds of a round that ends by time. */
  readonly seconds: number;
}

/** Our side and the side that it is compared with, doing the same work. */
export interface Contest {
  readonly name: string;
  /** Description of the other side. */
  readonly beside: string;
  readonly lines: readonly Line[];
  /** Reason why there is no figure of ours. */
  readonly note?: string;
  /** Whether it waits for a chain's blocks and not for a processor. Such a contest needs no warm-up, and others are opened during it. */
  readonly waits?: boolean;
  /** Lines for a quick run, which does less work. */
  readonly quick_lines?: readonly Line[];
  open(arena: Arena): Promise<Sides>;
}

export const perSecond = ({ operations, seconds }: Measured): number => operations / seconds;
export const perCpuSecond = ({ operations, cpu_us }: Measured): number => (operations / cpu_us) * 1e6;
export const cpuMs = ({ operations, cpu_us }: Measured): number => cpu_us / operations / 1000;

export const atLeast = (factor: number): Goal => ({ kind: 'times_at_least', factor });
export const atMost = (factor: number): Goal => ({ kind: 'times_at_most', factor });
