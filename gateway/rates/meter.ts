import { LRUCache } from 'lru-cache';
import { limits } from '../../schema/limits.ts';
import type { Clock } from '../../subgraphs/clock.ts';
import type { Rate } from '../config/rates.ts';
import { type MeterTurn, taken, type Used, unused } from './rate.ts';

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
