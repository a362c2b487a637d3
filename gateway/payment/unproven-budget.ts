import { limits } from '../../schema/limits.ts';
import type { Clock } from '../../subgraphs/clock.ts';

interface Bucket {
  left: number;
  filled_ms: number;
}

interface Rate {
  /** At once. */
  readonly burst: number;
  readonly per_second: number;
  /** How far below nothing a bucket may go. */
  readonly debt_max: number;
}

const ADDRESSES_MAX = 10_000;

/** Buckets by address, each filled by so many a second. */
class Buckets {
  readonly #rate: Rate;
  readonly #clock: Pick<Clock, 'now_ms'>;
  readonly #known = new Map<string, Bucket>();

  constructor(rate: Rate, clock: Pick<Clock, 'now_ms'>) {
    this.#rate = rate;
    this.#clock = clock;
  }

  /** Takes one, where the debt allows for it: in how many seconds it would have been there, 0 where it was. */
  take(address: string): number {
    const { per_second, debt_max } = this.#rate;
    const bucket = this.#filled(address);
    const missing = Math.max(0, 1 - bucket.left);
    bucket.left = Math.max(bucket.left - 1, -debt_max);
    return missing / per_second;
  }

  #filled(address: string): Bucket {
    const { burst, per_second } = this.#rate;
    const now_ms = this.#clock.now_ms();
    const bucket = this.#known.get(address) ?? { left: burst, filled_ms: now_ms };
    bucket.left = Math.min(burst, bucket.left + (Math.max(0, now_ms - bucket.filled_ms) / 1_000) * per_second);
    bucket.filled_ms = now_ms;
    // Who was here last is forgotten last.
    this.#known.delete(address);
    this.#known.set(address, bucket);
    if (this.#known.size > ADDRESSES_MAX) this.#known.delete(this.#known.keys().next().value as string);
    return bucket;
  }
}

/**
 * What one address may have of the work that unproven payments make. In the memory of this process alone; nothing of it
 * touches a request without a payment, or one whose payment a key has signed.
 */
export class UnprovenBudget {
  readonly #asked: Buckets;
  readonly #refused: Buckets;

  constructor(clock: Pick<Clock, 'now_ms'>) {
    const { unproven_per_address_burst_max: burst, unproven_per_address_second_max: per_second } = limits;
    this.#asked = new Buckets({ burst, per_second, debt_max: 0 }, clock);
    const { forged_per_address_second_max: refused } = limits;
    // So that nobody waits longer than a second.
    this.#refused = new Buckets({ burst: refused, per_second: refused, debt_max: refused }, clock);
  }

  /** To ask code in the name of a payer who has not paid yet. Null where that is within the budget, or else in how many seconds it is. */
  ask(address: string): number | null {
    const seconds = this.#asked.take(address);
    return seconds === 0 ? null : Math.max(1, Math.ceil(seconds));
  }

  /** How long the 402 of a forged payment is kept back: who sends them one after the other leaves time to others. */
  refusalWaitMs(address: string): number {
    return Math.round(this.#refused.take(address) * 1_000);
  }
}
