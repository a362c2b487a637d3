/** A step of a paid call. `replay`: an answer that was bought earlier is sent again. */
export type Step = 'verify' | 'claim' | 'work' | 'settle' | 'record' | 'replay';

export interface Lap {
  readonly step: Step;
  readonly ms: number;
}

/** Measures how long a paid call takes for each of its steps. Each step begins where the one before it ends. */
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

  /** The step that is being measured. Null if none is. */
  get step(): Step | null {
    return this.#step;
  }

  get laps(): readonly Lap[] {
    return this.#laps;
  }
}
