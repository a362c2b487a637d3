import { DatabaseAway } from '../../subgraphs/outage.ts';

/** Each is a few hundred bytes; a flood beyond it is left to the end of this process's lease. */
const OWED_MAX = 100_000;

/**
 * Claims that could not be let go of, as the database was away just then. While this process lives and holds them nobody
 * else may finish them, so it is done as soon as it can be; should the process die, its lease ends and reconcile takes them.
 */
export class Owed {
  readonly #owed = new Set<() => Promise<unknown>>();

  /** `letGo` may run any number of times until it succeeds: it is compare-and-set. */
  add(letGo: () => Promise<unknown>): void {
    if (this.#owed.size < OWED_MAX) this.#owed.add(letGo);
  }

  /** Tries each again. @throws what the last one failed by; with the database away the others wait untried. */
  async pay(): Promise<void> {
    let failed: unknown = null;
    for (const letGo of this.#owed) {
      try {
        await letGo();
        this.#owed.delete(letGo);
      } catch (fault) {
        failed = fault;
        if (fault instanceof DatabaseAway) break;
      }
    }
    if (failed !== null) throw failed;
  }
}
