import { setImmediate as nextTurn } from 'node:timers/promises';

/** Of what is executed for one reader alone, so much in one turn of the event loop. */
const STEPS_MAX = 50;

/**
 * What is read page by page never waits for anything in between: a thousand readers would keep everything else in this
 * process, a paid call or the answer to a query, waiting for seconds. So they take turns.
 */
export class Pace {
  #steps = 0;
  #turn: Promise<void> | null = null;

  async step(): Promise<void> {
    while (this.#steps >= STEPS_MAX) {
      this.#turn ??= nextTurn().then(() => {
        this.#turn = null;
        this.#steps = 0;
      });
      await this.#turn;
    }
    this.#steps++;
  }
}
