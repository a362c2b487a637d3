import { type AtomicAmount, atomicAmount } from './amount.ts';

/** The clock periods that a cap is set for. Unix time knows no leap second: each begins at a multiple of its length, in UTC. */
export const period_ms = { hour: 3_600_000, day: 86_400_000 } as const;
export type Period = keyof typeof period_ms;

/** What was collected in one clock period; `start_ms` is null before the first amount. */
export interface Window {
  readonly start_ms: number | null;
  readonly atomic: AtomicAmount;
}

export const emptyWindow: Window = { start_ms: null, atomic: atomicAmount(0n) };

export function periodStart(period: Period, at_ms: number): number {
  return Math.floor(at_ms / period_ms[period]) * period_ms[period];
}

/** The window that holds at that time: nothing in it once a new period has begun. It never goes back to an older one. */
export function windowAt(window: Window, period: Period, at_ms: number): Window & { readonly start_ms: number } {
  const begun_ms = periodStart(period, at_ms);
  if (window.start_ms === null || window.start_ms < begun_ms) return { ...emptyWindow, start_ms: begun_ms };
  return { ...window, start_ms: window.start_ms };
}

/** Counts an amount (or, negative, takes it out again) where its time lies in the window; what is older is past. */
export function counted(window: Window, period: Period, at_ms: number, amount: bigint): Window {
  const standing = windowAt(window, period, at_ms);
  if (standing.start_ms !== periodStart(period, at_ms)) return window;
  return { ...standing, atomic: atomicAmount(standing.atomic + amount) };
}
