import { LRUCache } from 'lru-cache';
import { limits } from '../../schema/limits.ts';
import type { Clock } from '../../subgraphs/clock.ts';
import type { Rate, RateName } from '../config/rates.ts';

export type MeterTurn =
  | { readonly kind: 'within'; readonly remaining: number; readonly reset_seconds: number }
  | {
      readonly kind: 'beyond';
      readonly remaining: 0;
      readonly reset_seconds: number;
      readonly retry_after_seconds: number;
    };

/** Number of uses that counted at a time. */
interface RateUse {
  readonly uses: number;
  readonly at_ms: number;
}

export const unused: RateUse = { uses: 0, at_ms: 0 };

/** Tolerance: uses return in fractions, and a whole use must not be refused because of a rounding error. */
const ROUNDING = 1e-9;

/**
 * Counts a use by the leaky bucket (ITU-T I.371), in which uses return evenly over the window. It needs two numbers per caller and
 * no timers, and allows no double burst at the border of two windows. Refused uses are not counted, so a repeated request does not
 * prolong the wait.
 */
export function takeRateUse(
  rate: Rate,
  used: RateUse,
  now_ms: number,
): { readonly turn: MeterTurn; readonly used: RateUse } {
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

/**
 * Headers `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10): quota and window, and the remaining uses
 * with the time until they are all available.
 */
export function rateHeaders(
  name: RateName,
  { count, seconds }: Rate,
  turn: MeterTurn,
): Readonly<Record<string, string>> {
  return {
    'RateLimit-Policy': `"${name}";q=${count};w=${seconds}`,
    RateLimit: `"${name}";r=${turn.remaining};t=${turn.reset_seconds}`,
  };
}

/** The same headers for a client whose bodies fill its quota of bytes, which has no window. */
export function roomHeaders(name: 'bodies', bytes_max: number): Readonly<Record<string, string>> {
  return { 'RateLimit-Policy': `"${name}";q=${bytes_max};qu="content-bytes"`, RateLimit: `"${name}";r=0` };
}

/**
 * Counts uses by caller in this process's memory, so several processes together allow correspondingly more. The number of callers
 * is limited, and the least recent one is forgotten. rate-limiter-flexible is not used, because it keeps a timer for each caller
 * without a limit on memory, so that a client with many addresses could fill the memory.
 */
export class Meter {
  readonly rate: Rate;
  readonly #clock: Clock;
  /** Created for the first caller, because it allocates all its memory at once. */
  #callers: LRUCache<string, RateUse> | null = null;

  constructor(rate: Rate, clock: Clock) {
    this.rate = rate;
    this.#clock = clock;
  }

  /** Counts one use. A refused use is not counted, so a repeated request does not prolong the wait. */
  take(caller: string): MeterTurn {
    this.#callers ??= new LRUCache({ max: limits.rate_callers_max });
    const { turn, used } = takeRateUse(this.rate, this.#callers.get(caller) ?? unused, this.#clock.now_ms());
    this.#callers.set(caller, used);
    return turn;
  }

  /** Takes back a use that should not have been counted. */
  giveBack(caller: string): void {
    const used = this.#callers?.peek(caller);
    if (used) this.#callers?.set(caller, { ...used, uses: Math.max(0, used.uses - 1) });
  }

  /** The result that the next use would get. Counts nothing. */
  look(caller: string): MeterTurn {
    return takeRateUse(this.rate, this.#callers?.peek(caller) ?? unused, this.#clock.now_ms()).turn;
  }
}
