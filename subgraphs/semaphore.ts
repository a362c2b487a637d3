export interface SemaphoreBounds {
  readonly at_once_max: number;
  /** Maximum time to wait for a turn, in milliseconds. After it the request is refused. */
  readonly wait_ms_max: number;
  /** Maximum number of waiting requests of one asker. Further requests of the asker are refused at once. */
  readonly waiting_per_asker_max: number;
}

type Patience = Omit<SemaphoreBounds, 'at_once_max'>;
const ENDLESS: Patience = { wait_ms_max: Number.POSITIVE_INFINITY, waiting_per_asker_max: Number.POSITIVE_INFINITY };

interface Waiting {
  begin(): void;
}

/**
 * Limits the concurrency of costly work. Callers take turns (round-robin), so a caller with many requests delays each other caller by one
 * turn only.
 */
export class Semaphore {
  readonly #patience: Patience;
  #free: number;
  /** Waiting requests by asker, in the order of their next turns. */
  readonly #lines = new Map<string, Waiting[]>();

  /** If the bounds do not limit waiting, `take` waits for as long as necessary. */
  constructor({ at_once_max, ...patience }: Pick<SemaphoreBounds, 'at_once_max'> & Partial<Patience>) {
    this.#free = at_once_max;
    this.#patience = { ...ENDLESS, ...patience };
  }

  /**
   * Runs `work` when it is the asker's turn. Null if no turn came in time, if the asker has too many waiting requests, or if it has left
   * (`left`).
   */
  async take<T extends object>(asker: string, work: () => Promise<T>, left?: AbortSignal): Promise<T | null> {
    return (await this.#turn(asker, this.#patience, left)) ? this.#inTurn(work) : null;
  }

  /** Runs `work` when it is the asker's turn, and waits for that as long as necessary. */
  async run<T>(asker: string, work: () => Promise<T>): Promise<T> {
    await this.#turn(asker, ENDLESS);
    return this.#inTurn(work);
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      const next = this.#next();
      if (next) next.begin();
      else this.#free++;
    }
  }

  #turn(asker: string, { wait_ms_max, waiting_per_asker_max }: Patience, left?: AbortSignal): Promise<boolean> {
    if (left?.aborted) return Promise.resolve(false);
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve(true);
    }
    const line = this.#lines.get(asker) ?? [];
    if (line.length >= waiting_per_asker_max) return Promise.resolve(false);
    this.#lines.set(asker, line);
    return new Promise(resolve => {
      const giveUp = () => {
        clearTimeout(timer);
        left?.removeEventListener('abort', giveUp);
        line.splice(line.indexOf(waiting), 1);
        if (line.length === 0 && this.#lines.get(asker) === line) this.#lines.delete(asker);
        resolve(false);
      };
      // A timer of more than 2^31 ms would end at once.
      const timer = Number.isFinite(wait_ms_max) ? setTimeout(giveUp, wait_ms_max) : undefined;
      const waiting: Waiting = {
        begin() {
          clearTimeout(timer);
          left?.removeEventListener('abort', giveUp);
          resolve(true);
        },
      };
      left?.addEventListener('abort', giveUp);
      line.push(waiting);
    });
  }

  #next(): Waiting | undefined {
    for (const [asker, line] of this.#lines) {
      // An asker with more waiting requests goes to the end of the round.
      this.#lines.delete(asker);
      const next = line.shift();
      if (line.length > 0) this.#lines.set(asker, line);
      return next;
    }
    return undefined;
  }
}
