import { DatabaseAway } from '../../subgraphs/outage.ts';

/** Each is a few hundred bytes; a flood beyond it is left to the end of this process's lease. */
const WAITING_MAX = 100_000;

/**
 * Claims that could not be released, as the database was away just then. While this process lives and holds them nobody
 * else may finish them, so it is done as soon as it can be; should the process die, its lease ends and reconcile takes them.
 */
export class ReleaseLater {
  readonly #waiting = new Set<() => Promise<unknown>>();

  /** `release` may run any number of times until it succeeds: it is compare-and-set. */
  add(release: () => Promise<unknown>): void {
    if (this.#waiting.size < WAITING_MAX) this.#waiting.add(release);
  }

  /** Tries each again. @throws what the last one failed by; with the database away the others wait untried. */
  async tryAgain(): Promise<void> {
    let failed: unknown = null;
    for (const release of this.#waiting) {
      try {
        await release();
        this.#waiting.delete(release);
      } catch (fault) {
        failed = fault;
        if (fault instanceof DatabaseAway) break;
      }
    }
    if (failed !== null) throw failed;
  }
}
