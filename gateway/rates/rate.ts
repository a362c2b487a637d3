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

/** How much of a rate was in use, and when. */
interface Used {
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

/** `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10): quota and window, what is left and for how long. */
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

/** The same of a room that is full: a quota of bytes at once, in no window. */
export function roomHeaders(name: 'bodies', bytes_max: number): Readonly<Record<string, string>> {
  return { 'RateLimit-Policy': `"${name}";q=${bytes_max};qu="content-bytes"`, RateLimit: `"${name}";r=0` };
}

/**
 * Counts uses by caller, in this process's memory: of several processes behind one address each lets as many pass. It
 * holds a bounded number of callers, and forgets who has not come for the longest.
 *
 * Not rate-limiter-flexible: in memory it keeps a timer for each caller and has no bound on how many there are, so that
 * whoever has many addresses fills it.
 */
export class Meter {
  readonly rate: Rate;
  readonly #clock: Clock;
  /** Made when the first caller comes: it takes its memory at once, for all whom it may hold. */
  #callers: LRUCache<string, Used> | null = null;

  constructor(rate: Rate, clock: Clock) {
    this.rate = rate;
    this.#clock = clock;
  }

  /** Counts one use. What is beyond is not counted: whoever goes on asking waits no longer for it. */
  take(caller: string): MeterTurn {
    this.#callers ??= new LRUCache({ max: limits.rate_callers_max });
    const { turn, used } = taken(this.rate, this.#callers.get(caller) ?? unused, this.#clock.now_ms());
    this.#callers.set(caller, used);
    return turn;
  }

  /** One that was counted before it was known to be none. */
  giveBack(caller: string): void {
    const used = this.#callers?.peek(caller);
    if (used) this.#callers?.set(caller, { ...used, uses: Math.max(0, used.uses - 1) });
  }

  /** What the next use would be, uncounted. */
  look(caller: string): MeterTurn {
    return taken(this.rate, this.#callers?.peek(caller) ?? unused, this.#clock.now_ms()).turn;
  }
}
