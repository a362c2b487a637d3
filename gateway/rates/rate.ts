import type { Rate } from '../config/rates.ts';

export type MeterTurn =
  | { readonly kind: 'within'; readonly remaining: number; readonly reset_seconds: number }
  | {
      readonly kind: 'beyond';
      readonly remaining: 0;
      readonly reset_seconds: number;
      readonly retry_after_seconds: number;
    };

/** How much of a rate was in use, and when. */
export interface Used {
  readonly uses: number;
  readonly at_ms: number;
}

export const unused: Used = { uses: 0, at_ms: 0 };

/** Uses come back by fractions: a whole one must not fail by the last bit of a float. */
const ROUNDING = 1e-9;

/**
 * The leaky bucket (ITU-T I.371): uses come back evenly over the window, and what would make more of them than the rate's
 * count is beyond it. Two numbers a caller, no timers, and no two bursts side by side where one window ends and the next
 * begins. What is beyond is not counted: whoever goes on asking waits no longer for it.
 */
export function taken(rate: Rate, used: Used, now_ms: number): { readonly turn: MeterTurn; readonly used: Used } {
  const { count, seconds } = rate;
  const back = (Math.max(0, now_ms - used.at_ms) * count) / (seconds * 1_000);
  const before = Math.max(0, used.uses - back);
  const after = before + 1;
  if (after <= count + ROUNDING) {
    const remaining = Math.floor(count - after + ROUNDING);
    return {
      turn: { kind: 'within', remaining, reset_seconds: secondsFor(rate, after) },
      used: { uses: after, at_ms: now_ms },
    };
  }
  const retry_after_seconds = secondsFor(rate, after - count);
  const turn = { kind: 'beyond', remaining: 0, reset_seconds: secondsFor(rate, before), retry_after_seconds } as const;
  return { turn, used: { uses: before, at_ms: now_ms } };
}

function secondsFor({ count, seconds }: Rate, uses: number): number {
  return Math.max(1, Math.ceil((uses * seconds) / count - ROUNDING));
}
