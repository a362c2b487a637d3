import { webhookLimits } from '../../schema/limits.ts';

/* How many attempts go on at once, so that receivers that hang hold up nobody but each other. */

/** Of a process. */
export interface LaneSizes {
  /** For receivers that took their last message promptly. */
  readonly prompt: number;
  /** For those that never have: they may be anybody's, and as many as somebody likes. */
  readonly untried: number;
  /** For those that fail or are slow, and for whoever of the others does not answer at once. */
  readonly slow: number;
}

export type LaneName = keyof LaneSizes;

/** A place that is held. */
export interface Place {
  /** Whether it could go on in the lane of the slow, and so leaves its own to others. */
  moveAside(): boolean;
  leave(): void;
}

export type Taken =
  | { readonly kind: 'place'; readonly place: Place }
  /** There is none: it may be this one's turn after so long. */
  | { readonly kind: 'full'; readonly wait_ms: number };

const { attempt_ms_max, prompt_ms_max } = webhookLimits;
/** For no longer a place is held, since whoever holds one longer moves aside or makes room. */
const HELD_MS: Readonly<Record<LaneName, number>> = {
  prompt: prompt_ms_max,
  untried: prompt_ms_max,
  slow: attempt_ms_max,
};
const WAIT_MS_MAX = 60_000;

export class Lanes {
  readonly #sizes: LaneSizes;
  readonly #free: Record<LaneName, number>;
  /** Until when places are promised to those who were turned away. */
  readonly #promised_ms: Record<LaneName, number> = { prompt: 0, untried: 0, slow: 0 };
  readonly #waiting: (() => void)[] = [];

  constructor(sizes: LaneSizes) {
    this.#sizes = sizes;
    this.#free = { ...sizes };
  }

  /** The prompt wait for a place, since each is free again within a moment; others are told when to come again. */
  async take(lane: LaneName, now_ms: number): Promise<Taken> {
    if (this.#free[lane] > 0) {
      this.#free[lane]--;
      return { kind: 'place', place: this.#placeIn(lane) };
    }
    if (lane !== 'prompt') return { kind: 'full', wait_ms: this.#turn(lane, now_ms) };
    await new Promise<void>(resolve => this.#waiting.push(resolve));
    return { kind: 'place', place: this.#placeIn(lane) };
  }

  /** One after the other, at the pace at which places become free at the least: nobody comes back again and again. */
  #turn(lane: LaneName, now_ms: number): number {
    const from_ms = Math.max(this.#promised_ms[lane], now_ms + prompt_ms_max);
    this.#promised_ms[lane] = Math.min(from_ms + HELD_MS[lane] / this.#sizes[lane], now_ms + WAIT_MS_MAX);
    return Math.round(this.#promised_ms[lane] - now_ms);
  }

  #placeIn(lane: LaneName): Place {
    let held: LaneName | null = lane;
    return {
      moveAside: () => {
        if (held === 'slow') return true;
        if (held === null || this.#free.slow === 0) return false;
        this.#free.slow--;
        this.#giveBack(held);
        held = 'slow';
        return true;
      },
      leave: () => {
        if (held !== null) this.#giveBack(held);
        held = null;
      },
    };
  }

  #giveBack(lane: LaneName): void {
    const next = lane === 'prompt' ? this.#waiting.shift() : undefined;
    if (next) next();
    else this.#free[lane]++;
  }
}
