import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../../subgraphs/database.ts';
import type { Damage } from '../../subgraphs/receipt/log/audit.ts';
import { auditStored } from '../../subgraphs/receipt/log/audit-database.ts';

/** Pause between two pages. It permits a thousand leaves a second, at a few hundredths of a core. */
const REST_MS = 400;
/** Pause after a failed read. */
const RETRY_MS = 5_000;

/** What an operator can do about a log that differs from the signed heads. */
export const WAY_ON =
  'Restore the database and the saved heads in DATA_DIR to states that belong together, or declare the break, signed and public: ' +
  'npm run accept-log-break -- "REASON"';

/**
 * Audits the leaves that were not audited at the start, oldest first, while the service runs. After damage no payments are accepted until
 * an operator repairs the log or declares the break. Open claims are still finished, and paid answers delivered.
 */
export class LogGuard {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #damage: Damage | null = null;
  #audited = 0;

  /** `to`: index of the first leaf that was audited at the start. */
  constructor(database: Database, to: number, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
    this.#running = this.#audit(to);
  }

  /** False after damage was found. */
  get sound(): boolean {
    return this.#damage === null;
  }

  /** Number of leaves, from the oldest on, that passed the audit. */
  get audited(): number {
    return this.#audited;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #audit(to: number): Promise<void> {
    while (this.#audited < to && this.sound && !this.#stopping.signal.aborted) {
      try {
        await this.#auditOn(to);
      } catch (error) {
        this.#logger.warn(
          { err: error, leaf_index: this.#audited },
          'the receipt log cannot be audited because of the error in err, such as an unavailable database; it is tried again every 5 seconds',
        );
        await this.#rest(RETRY_MS);
      }
    }
  }

  async #auditOn(to: number): Promise<void> {
    for await (const { to: end, damage } of auditStored(this.#database, this.#audited, to)) {
      const [first] = damage;
      if (first) this.#close(first);
      if (first || this.#stopping.signal.aborted) return;
      this.#audited = end;
      await this.#rest(REST_MS);
    }
  }

  #close(damage: Damage): void {
    this.#damage = damage;
    this.#logger.fatal({ damage }, `${damageSentence(damage)}. No more payments are accepted. ${WAY_ON}`);
  }

  async #rest(pause_ms: number): Promise<void> {
    await sleep(pause_ms, null, { signal: this.#stopping.signal, ref: false }).catch(() => {});
  }
}

export function damageSentence({ level, index, computed, stored }: Damage): string {
  const place = level === 0 ? `leaf ${index}` : `node ${index} of level ${level}`;
  const made =
    computed === null
      ? 'its receipt is missing'
      : `its ${level === 0 ? 'receipt has' : 'children have'} the hash ${computed}`;
  return `the log was rewritten at ${place}: ${made}, the stored hash is ${stored ?? 'missing'}`;
}
