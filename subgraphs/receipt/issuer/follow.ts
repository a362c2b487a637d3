import { setTimeout as sleep } from 'node:timers/promises';
import { shareNextRun } from '../../coalesce.ts';
import type { Database } from '../../database.ts';
import { type Histories, requireSound } from './histories.ts';
import { readNewer } from './history-rows.ts';
import { keepCopies } from './kept-copy.ts';
import type { HeldHistories } from './signing-keys.ts';

/** What another process appends is published by all within this time … */
const KNOWN_WITHIN_MS = 1_000;
/** … and that process signs nothing by it before. A timer may be early by a millisecond. */
export const UNSIGNED_MS = KNOWN_WITHIN_MS + 100;
/** A database that does not answer keeps nobody from reading what is known. */
const WAIT_MS_MAX = 1_000;

interface FollowOptions {
  readonly data_dir: string;
  failed(error: unknown): void;
}

/**
 * The histories of the database, held in memory and read again when somebody asks for them a second later: so much a
 * published key set can be behind, and no more reads are made for those who ask for it for nothing. They only ever grow.
 */
export class FollowedHistories implements HeldHistories {
  readonly #database: Pick<Database, 'query'>;
  readonly #options: FollowOptions;
  readonly #read = shareNextRun(() => this.#readAgain());
  #histories: Histories;
  /** When the newest reading began, on the monotonic clock. The first who asks reads: a start takes its time. */
  #read_at_ms = Number.NEGATIVE_INFINITY;

  constructor(database: Pick<Database, 'query'>, histories: Histories, options: FollowOptions) {
    this.#database = database;
    this.#histories = histories;
    this.#options = options;
  }

  latest = (): Histories => this.#histories;

  renew = async (): Promise<void> => {
    if (this.#fresh) return;
    const given_up = new AbortController();
    const patience = sleep(WAIT_MS_MAX, null, { signal: given_up.signal }).catch(() => {});
    await Promise.race([this.#read(), patience]);
    given_up.abort();
  };

  get #fresh(): boolean {
    return performance.now() - this.#read_at_ms < KNOWN_WITHIN_MS;
  }

  async #readAgain(): Promise<void> {
    if (this.#fresh) return;
    const begun_at_ms = performance.now();
    try {
      const newer = await readNewer(this.#database, this.#histories);
      if (newer !== this.#histories) {
        requireSound(newer, 'the database');
        await keepCopies(this.#options.data_dir, newer);
        this.#histories = newer;
      }
    } catch (error) {
      this.#options.failed(error);
    }
    // After a failure, too: the next who asks after that second tries again.
    this.#read_at_ms = begun_at_ms;
  }
}
