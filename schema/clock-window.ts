import { type AtomicAmount, atomicAmount } from './amount.ts';

/** Clock periods of caps. Unix time has no leap seconds, so each period begins at a multiple of its length (UTC). */
export const period_ms = { hour: 3_600_000, day: 86_400_000 } as const;
export type Period = keyof typeof period_ms;

/** Amount collected in one clock period. `start_ms` is null before the first amount. */
export interface Window {
  readonly start_ms: number | null;
  readonly atomic: AtomicAmount;
}

export const emptyWindow: Window = { start_ms: null, atomic: atomicAmount(0n) };

export function periodStart(period: Period, at_ms: number): number {
  return Math.floor(at_ms / period_ms[period]) * period_ms[period];
}

/** The window at a time. Empty after a new period has begun; it never returns to an older one. */
export function windowAt(window: Window, period: Period, at_ms: number): Window & { readonly start_ms: number } {
  const begun_ms = periodStart(period, at_ms);
  if (window.start_ms === null || window.start_ms < begun_ms) return { ...emptyWindow, start_ms: begun_ms };
  return { ...window, start_ms: window.start_ms };
}

/** Adds an amount (negative: subtracts it) if its time is in the window. An older amount changes nothing. */
export function addToWindow(window: Window, period: Period, at_ms: number, amount: bigint): Window {
  const standing = windowAt(window, period, at_ms);
  if (standing.start_ms !== periodStart(period, at_ms)) return window;
  return { ...standing, atomic: atomicAmount(standing.atomic + amount) };
}
