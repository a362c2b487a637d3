interface Waiting {
  begin(): void;
}

export interface SemaphoreBounds {
  readonly at_once_max: number;
  /** Who has had no turn by then is sent away. */
  readonly wait_ms_max: number;
  /** More of one asker are sent away at once. */
  readonly waiting_per_asker_max: number;
}

/**
 * Lets a few at a time do what is costly, round-robin by asker: whoever asks for much waits in a line of their own, and
 * delays each other asker by one turn.
 */
export class Semaphore {
  readonly #bounds: SemaphoreBounds;
  #free: number;
  /** Askers in the order in which they are next. */
  readonly #lines = new Map<string, Waiting[]>();

  constructor(bounds: SemaphoreBounds) {
    this.#bounds = bounds;
    this.#free = bounds.at_once_max;
  }

  /** Null where no turn came in time, or the asker has too many in line. */
  async take<T extends object>(asker: string, work: () => Promise<T>): Promise<T | null> {
    if (!(await this.#turn(asker))) return null;
    try {
      return await work();
    } finally {
      const next = this.#next();
      if (next) next.begin();
      else this.#free++;
    }
  }

  #turn(asker: string): Promise<boolean> {
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve(true);
    }
    const line = this.#lines.get(asker) ?? [];
    if (line.length >= this.#bounds.waiting_per_asker_max) return Promise.resolve(false);
    this.#lines.set(asker, line);
    return new Promise(resolve => {
      const patience = setTimeout(() => {
        line.splice(line.indexOf(waiting), 1);
        if (line.length === 0 && this.#lines.get(asker) === line) this.#lines.delete(asker);
        resolve(false);
      }, this.#bounds.wait_ms_max);
      const waiting: Waiting = {
        begin() {
          clearTimeout(patience);
          resolve(true);
        },
      };
      line.push(waiting);
    });
  }

  #next(): Waiting | undefined {
    for (const [asker, line] of this.#lines) {
      // An asker who has more waiting goes to the end of the round.
      this.#lines.delete(asker);
      const next = line.shift();
      if (line.length > 0) this.#lines.set(asker, line);
      return next;
    }
    return undefined;
  }
}
