import { webhookLimits } from '../../schema/limits.ts';

/* Limits concurrent attempts, so that receivers that do not respond delay only each other. */

/** Number of concurrent attempts in each lane of one process. */
export interface LaneSizes {
  /** For receivers that accepted their last message promptly. */
  readonly prompt: number;
  /** For receivers without a delivery so far, of which anyone can register any number. */
  readonly untried: number;
  /** For receivers that fail or are slow, and for receivers of the other lanes that do not respond at once. */
  readonly slow: number;
}

export type LaneName = keyof LaneSizes;

/** Permission for one attempt. */
export interface Place {
  /** Moves the attempt to the slow lane and frees its former place. False if the slow lane is full. */
  moveAside(): boolean;
  leave(): void;
}

export type PlaceOutcome =
  | { readonly kind: 'place'; readonly place: Place }
  /** No place is free. `wait_ms` is the time after which to try again. */
  | { readonly kind: 'full'; readonly wait_ms: number };

const { attempt_ms_max, prompt_ms_max } = webhookLimits;
/** Longest time for which a place is in use. A slower attempt moves to the slow lane or ends. */
const HELD_MS: Readonly<Record<LaneName, number>> = {
  prompt: prompt_ms_max,
  untried: prompt_ms_max,
  slow: attempt_ms_max,
};
const WAIT_MS_MAX = 60_000;

export class Lanes {
  readonly #sizes: LaneSizes;
  readonly #free: Record<LaneName, number>;
  /** Time up to which places are assigned to attempts that were turned away. */
  readonly #promised_ms: Record<LaneName, number> = { prompt: 0, untried: 0, slow: 0 };
  readonly #waiting: (() => void)[] = [];

  constructor(sizes: LaneSizes) {
    this.#sizes = sizes;
    this.#free = { ...sizes };
  }

  /**
   * Takes a place. An attempt to a prompt receiver waits for one, since each is free again within a moment. Others get a time after
   * which to try again.
   */
  async take(lane: LaneName, now_ms: number): Promise<PlaceOutcome> {
    if (this.#free[lane] > 0) {
      this.#free[lane]--;
      return { kind: 'place', place: this.#placeIn(lane) };
    }
    if (lane !== 'prompt') return { kind: 'full', wait_ms: this.#turn(lane, now_ms) };
    await new Promise<void>(resolve => this.#waiting.push(resolve));
    return { kind: 'place', place: this.#placeIn(lane) };
  }

  /**
   * Time after which an attempt should try again. Waiting attempts are scheduled one after another, at the slowest rate at which
   * places become free, so that none has to try repeatedly.
   */
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
