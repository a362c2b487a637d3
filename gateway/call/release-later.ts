import { DatabaseAway } from '../../subgraphs/outage.ts';

/** Each is a few hundred bytes; beyond this number, claims are left until this process's lease ends. */
const WAITING_MAX = 100_000;

/**
 * Claims that could not be released because the database was unreachable. While this process lives no other may finish them, so
 * it tries again as soon as it can; if it dies, its lease ends and reconcile takes them.
 */
export class ReleaseLater {
  readonly #waiting = new Set<() => Promise<unknown>>();

  /** `release` may run repeatedly until it succeeds, because it is compare-and-set. */
  add(release: () => Promise<unknown>): void {
    if (this.#waiting.size < WAITING_MAX) this.#waiting.add(release);
  }

  /** Tries each again. @throws the last error; while the database is unreachable the rest is not tried */
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
