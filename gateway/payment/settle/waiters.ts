import { limits } from '../../../schema/limits.ts';
import type { NotSent, NotTransferred, Settlement, Unknown } from '../base/outcome.ts';

/** One caller who waits. The first answer counts. */
export interface Waiter<I> {
  readonly item: I;
  /** With how many it may share a transaction. */
  batch_max: number;
  /** The settlement in which it failed together with others, and what it is told should it not be sent again. */
  failed: { readonly settlement_id: string; readonly verdict: NotTransferred } | null;
  answer(settlement: Settlement): void;
}

export const notSent = (reason: NotSent['reason']): NotSent => ({ kind: 'not_sent', reason });
export const unknown = (reason: Unknown['reason']): Unknown => ({ kind: 'unknown', reason });

/** Those who wait to be sent, in their order, and those whose transaction is under way. Nobody waits for ever. */
export class Waiters<I> {
  readonly #wait_ms: number;
  readonly #underway = new Set<Waiter<I>>();
  #queue: Waiter<I>[] = [];

  constructor(wait_ms: number) {
    this.#wait_ms = wait_ms;
  }

  get queued(): boolean {
    return this.#queue.length > 0;
  }

  enter(item: I): Promise<Settlement> {
    return new Promise(resolve => {
      const waiter: Waiter<I> = {
        item,
        batch_max: limits.settlement_batch_authorisations_max,
        failed: null,
        answer: settlement => {
          clearTimeout(timer);
          this.#underway.delete(waiter);
          resolve(settlement.kind === 'not_sent' ? (waiter.failed?.verdict ?? settlement) : settlement);
        },
      };
      const timer = setTimeout(() => this.#giveUp(waiter), this.#wait_ms);
      this.#queue.push(waiter);
    });
  }

  /** The next batch: as many as all of them may share a transaction with. */
  take(): Waiter<I>[] {
    let count = 0;
    let batch_max = Number.POSITIVE_INFINITY;
    for (const waiter of this.#queue) {
      batch_max = Math.min(batch_max, waiter.batch_max);
      if (count >= batch_max) break;
      count++;
    }
    const waiters = this.#queue.splice(0, count);
    for (const waiter of waiters) this.#underway.add(waiter);
    return waiters;
  }

  putBack(waiters: readonly Waiter<I>[]): void {
    const still = waiters.filter(waiter => this.#underway.delete(waiter));
    this.#queue.unshift(...still);
  }

  close(): void {
    for (const waiter of this.#queue) waiter.answer(notSent('stopped'));
    for (const waiter of this.#underway) waiter.answer(unknown('stopped'));
    this.#queue = [];
  }

  /** No key has become free for it: nothing stands. Otherwise it is committed, and the chain has not said. */
  #giveUp(waiter: Waiter<I>): void {
    const queued = this.#queue.includes(waiter);
    this.#queue = this.#queue.filter(other => other !== waiter);
    waiter.answer(queued ? notSent('chain_unavailable') : unknown('not_mined'));
  }
}
