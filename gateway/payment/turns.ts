/**
 * Lets a few at a time do what is dear; whoever has waited too long for his turn goes without. In the order of arrival.
 */
export class Turns {
  readonly #wait_ms_max: number;
  #free: number;
  #waiting: (() => void)[] = [];

  constructor(options: { readonly at_once_max: number; readonly wait_ms_max: number }) {
    this.#free = options.at_once_max;
    this.#wait_ms_max = options.wait_ms_max;
  }

  /** Null where no turn came in time. */
  async take<T extends object>(work: () => Promise<T>): Promise<T | null> {
    if (!(await this.#turn())) return null;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The turn goes on to the next in line, or back.
      if (next) next();
      else this.#free++;
    }
  }

  #turn(): Promise<boolean> {
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve(true);
    }
    return new Promise(resolve => {
      const begin = () => {
        clearTimeout(patience);
        resolve(true);
      };
      const patience = setTimeout(() => {
        this.#waiting = this.#waiting.filter(waiting => waiting !== begin);
        resolve(false);
      }, this.#wait_ms_max);
      this.#waiting.push(begin);
    });
  }
}
