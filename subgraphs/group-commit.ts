import { Refusal } from '../schema/errors.ts';
import type { Database, Tx } from './database.ts';

/**
 * Callers that arrive together share one transaction (measured: ten times the rate of one each).
 * Concurrency: at most one batch per queue is open in this process; nothing is remembered between batches,
 * so any process can do the next one. A batch that the database refused is done again one by one, so that one bad item
 * harms nobody; when the database itself is away, all are told at once.
 */
export class GroupCommit<I, O> {
  readonly #database: Database;
  readonly #run: (tx: Tx, items: readonly I[]) => Promise<readonly O[]>;
  readonly #items_max: number;
  #waiting: Waiter<I, O>[] = [];
  #busy = false;

  constructor(database: Database, run: (tx: Tx, items: readonly I[]) => Promise<readonly O[]>, items_max: number) {
    this.#database = database;
    this.#run = run;
    this.#items_max = items_max;
  }

  submit(item: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#busy) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#busy = true;
    // One turn of the loop lets callers of the same tick join the first batch.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#items_max);
      await this.#commit(batch);
    }
    this.#busy = false;
  }

  async #commit(batch: readonly Waiter<I, O>[]): Promise<void> {
    try {
      const results = await this.#database.transaction(tx =>
        this.#run(
          tx,
          batch.map(waiter => waiter.item),
        ),
      );
      for (const [index, waiter] of batch.entries()) waiter.resolve(results[index] as O);
    } catch (error) {
      const outage = isOutage(error);
      const told = outage ? new Refusal('unavailable', { cause: error, facts: { charged: false } }) : error;
      if (outage || batch.length === 1) for (const waiter of batch) waiter.reject(told);
      else for (const waiter of batch) await this.#commit([waiter]);
    }
  }
}

/** No connection, one that broke, a server that goes down (SQLSTATE class 08, 57P), or a head that is held too long (55P03). */
function isOutage(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return (
    /^(E[A-Z]+|08...|57P..|55P03)$/.test(code) ||
    (error instanceof Error && /timeout|terminated|ended/i.test(error.message) && code === '')
  );
}

interface Waiter<I, O> {
  readonly item: I;
  readonly resolve: (result: O) => void;
  readonly reject: (error: unknown) => void;
}
