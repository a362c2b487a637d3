import { DatabaseAway } from '../../subgraphs/outage.ts';

/** Remembered releases, of a few hundred bytes each. Further claims are left until the lease of this process ends. */
const WAITING_MAX = 100_000;

/**
 * Claims that could not be released because the database was unreachable. While this process lives, no other one may finish them, so it
 * tries again as soon as it can. If it dies, its lease ends and reconcile takes them.
 */
export class ReleaseLater {
  readonly #waiting = new Set<() => Promise<unknown>>();

  /** Adds a release. It may run several times until it succeeds, because it is compare-and-set. */
  add(release: () => Promise<unknown>): void {
    if (this.#waiting.size < WAITING_MAX) this.#waiting.add(release);
  }

  /** Tries each release again. @throws the last error; while the database is unreachable, the rest is not tried */
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
