import type { Stage } from './stage.ts';

/** What one round of one side took. */
export interface Measured {
  readonly operations: number;
  readonly seconds: number;
  /** User and system time of the side's server processes; whoever makes the load is not one of them. */
  readonly cpu_us: number;
  /** What else was counted, by name. */
  readonly counts: Readonly<Record<string, number>>;
}

export interface Side {
  /** What comes before the measuring (signing payments, opening sockets) is the round's own and not measured. */
  round(): Promise<Measured>;
}

export interface Sides {
  /** Null where it cannot be done yet; the line says why. */
  readonly ours: Side | null;
  /** Null where a figure stands for itself. */
  readonly beside: Side | null;
}

export type Goal =
  | { readonly kind: 'times_at_least'; readonly factor: number }
  | { readonly kind: 'times_at_most'; readonly factor: number }
  | { readonly kind: 'at_most'; readonly value: number }
  | { readonly kind: 'at_least'; readonly value: number };

/** One line of the table: a figure that is taken from each round of both sides. */
export interface Line {
  readonly name: string;
  readonly unit: string;
  readonly goal: Goal;
  /** It is not compared with the other side's. */
  readonly alone?: boolean;
  of(measured: Measured): number;
  /** Of our processes per operation, where a round does several kinds of work; or else of the round. */
  cpuUs?(measured: Measured): number;
}

export interface Arena {
  readonly stage: Stage;
  /** What is opened for this contest alone is closed with it. */
  readonly closing: AsyncDisposableStack;
  readonly quick: boolean;
  /** How long a round goes on, where it is time that ends it. */
  readonly seconds: number;
}

/** Ours and what stands beside it, at the same work. */
export interface Contest {
  readonly name: string;
  /** What the other side is. */
  readonly beside: string;
  readonly lines: readonly Line[];
  /** Why there is no figure of ours yet. */
  readonly note?: string;
  /** It waits for a chain's blocks, not for a processor: it needs no warming up, and the others open meanwhile. */
  readonly waits?: boolean;
  /** Other lines where less is done in a quick run. */
  readonly quick_lines?: readonly Line[];
  open(arena: Arena): Promise<Sides>;
}

export const perSecond = ({ operations, seconds }: Measured): number => operations / seconds;
export const perCpuSecond = ({ operations, cpu_us }: Measured): number => (operations / cpu_us) * 1e6;
export const cpuMs = ({ operations, cpu_us }: Measured): number => cpu_us / operations / 1000;

export const atLeast = (factor: number): Goal => ({ kind: 'times_at_least', factor });
export const atMost = (factor: number): Goal => ({ kind: 'times_at_most', factor });
