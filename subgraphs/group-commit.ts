import { Refusal } from '../schema/errors.ts';
import type { Database, Tx } from './database.ts';
import { DatabaseAway } from './outage.ts';

const REFUSED_MS = 5_000;
/**
 * Limit of a batch, shorter than two lock timeouts (of 2 s each). A transaction that waits for a slow batch gets its lock at the second
 * attempt, even if it began to wait when the batch began.
 */
export const BATCH_BOUND = { ms_max: 3_500 } as const;

/** Thrown by a batch for a reason that does not depend on any of its items: each item alone would be refused too. */
export abstract class BatchRefused extends Refusal {}

/**
 * Lets concurrent callers share one transaction. This was measured at ten times the rate of one transaction for each. At most one batch of
 * each queue is open in this process. No state is kept between batches, so any process can do the next one. A batch that the database
 * refuses is retried item by item, so one bad item harms no other. If the database is away, or the batch throws BatchRefused, all callers
 * get the error at once.
 */
export class GroupCommit<I, O> {
  readonly #database: Database;
  readonly #run: (tx: Tx, items: readonly I[]) => Promise<readonly O[]>;
  readonly #items_max: number;
  /** Called after every commit with the number of callers that shared it, and its duration. */
  onCommit: (items: number, ms: number) => void = () => {};
  #waiting: Waiter<I, O>[] = [];
  #busy = false;
  #refused_at_ms: number | null = null;

  constructor(database: Database, run: (tx: Tx, items: readonly I[]) => Promise<readonly O[]>, items_max: number) {
    this.#database = database;
    this.#run = run;
    this.#items_max = items_max;
  }

  /**
   * Whether the database was away for the newest batch, if that was less than 5 s ago. Without callers there is no batch, and the state is
   * unknown.
   */
  get refused(): boolean {
    return this.#refused_at_ms !== null && performance.now() - this.#refused_at_ms < REFUSED_MS;
  }

  /** Number of items that no batch has taken yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  submit(item: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#busy) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#busy = true;
    // Waits for one turn of the event loop, so that callers of the same tick join the first batch.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#items_max);
      await this.#commit(batch);
    }
    this.#busy = false;
  }

  async #commit(batch: readonly Waiter<I, O>[]): Promise<void> {
    const from_ms = performance.now();
    const items = batch.map(waiter => waiter.item);
    let results: readonly O[];
    try {
      results = await this.#database.transaction(tx => this.#run(tx, items), BATCH_BOUND);
    } catch (error) {
      if (error instanceof DatabaseAway) this.#refused_at_ms = performance.now();
      const alike = error instanceof DatabaseAway || error instanceof BatchRefused;
      if (alike || batch.length === 1) for (const waiter of batch) waiter.reject(error);
      else for (const waiter of batch) await this.#commit([waiter]);
      return;
    }
    // The batch has committed, so an error from here on must not cause it to run again.
    this.#refused_at_ms = null;
    for (const [index, waiter] of batch.entries()) waiter.resolve(results[index] as O);
    this.onCommit(batch.length, performance.now() - from_ms);
  }
}

interface Waiter<I, O> {
  readonly item: I;
  readonly resolve: (result: O) => void;
  readonly reject: (error: unknown) => void;
}
