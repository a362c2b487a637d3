/** A paid call's way, step by step; `replay`: what was bought before goes out again. */
export type Step = 'verify' | 'claim' | 'work' | 'settle' | 'record' | 'replay';

export interface Lap {
  readonly step: Step;
  readonly ms: number;
}

/** How long a paid call took over each of its steps. They follow one another: each begins where the one before it ends. */
export class Stopwatch {
  readonly #laps: Lap[] = [];
  #step: Step | null = null;
  #since_ms = 0;

  begin(step: Step): void {
    this.end();
    this.#step = step;
    this.#since_ms = performance.now();
  }

  end(): void {
    if (this.#step !== null) this.#laps.push({ step: this.#step, ms: performance.now() - this.#since_ms });
    this.#step = null;
  }

  /** The one that is under way. */
  get step(): Step | null {
    return this.#step;
  }

  get laps(): readonly Lap[] {
    return this.#laps;
  }
}
