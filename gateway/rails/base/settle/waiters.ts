import { limits } from '../../../../schema/limits.ts';
import { type NotTransferred, notSent, type SettleOutcome, unknown } from '../../outcome.ts';
import type { SettleItem } from './batch.ts';

/** A caller that waits for its payment's outcome. Only the first call of `answer` has an effect. */
export interface Waiter<I> {
  readonly item: I;
  /** Whether it gets its own transaction, as a contract wallet does, whose code may use up all gas. */
  readonly alone: boolean;
  /** Maximum number of payments in its transaction. */
  batch_max: number;
  /**
   * The settlement in which it failed together with others, and its outcome if it is not sent again; null if it has not failed.
   */
  failed: { readonly settlement_id: string; readonly verdict: NotTransferred } | null;
  answer(settlement: SettleOutcome): void;
}

/**
 * Payments that wait to be sent, and payments whose transaction is open; every wait has a limit. Two ordered queues, for shared and
 * for single transactions, take turns, so that contract wallets delay others by one transaction at most.
 */
export class Waiters<I extends SettleItem> {
  readonly #wait_ms: number;
  readonly #underway = new Set<Waiter<I>>();
  readonly #together: Waiter<I>[] = [];
  readonly #alone: Waiter<I>[] = [];
  /** The queue whose turn it is. If it is empty, the other one is used. */
  #turn = this.#together;

  constructor(wait_ms: number) {
    this.#wait_ms = wait_ms;
  }

  enter(item: I): Promise<SettleOutcome> {
    const alone = item.signature.kind === 'contract';
    return new Promise(resolve => {
      const waiter: Waiter<I> = {
        item,
        alone,
        batch_max: alone ? 1 : limits.settlement_batch_authorisations_max,
        failed: null,
        answer: settlement => {
          clearTimeout(timer);
          this.#underway.delete(waiter);
          resolve(settlement.kind === 'not_sent' ? (waiter.failed?.verdict ?? settlement) : settlement);
        },
      };
      const timer = setTimeout(() => this.#giveUp(waiter), this.#wait_ms);
      this.#laneOf(waiter).push(waiter);
    });
  }

  /** The next batch, as large as all its members allow; empty if no payment waits. */
  take(): Waiter<I>[] {
    const lane = this.#turn.length > 0 ? this.#turn : this.#other(this.#turn);
    this.#turn = this.#other(lane);
    let count = 0;
    let batch_max = Number.POSITIVE_INFINITY;
    for (const waiter of lane) {
      batch_max = Math.min(batch_max, waiter.batch_max);
      if (count >= batch_max) break;
      count++;
    }
    const waiters = lane.splice(0, count);
    for (const waiter of waiters) this.#underway.add(waiter);
    return waiters;
  }

  putBack(waiters: readonly Waiter<I>[]): void {
    const still = waiters.filter(waiter => this.#underway.delete(waiter));
    for (const waiter of still.reverse()) this.#laneOf(waiter).unshift(waiter);
  }

  close(): void {
    for (const waiter of [...this.#together, ...this.#alone]) waiter.answer(notSent('stopped'));
    for (const waiter of this.#underway) waiter.answer(unknown('stopped'));
    this.#together.length = 0;
    this.#alone.length = 0;
  }

  #laneOf({ alone }: Waiter<I>): Waiter<I>[] {
    return alone ? this.#alone : this.#together;
  }

  #other(lane: Waiter<I>[]): Waiter<I>[] {
    return lane === this.#alone ? this.#together : this.#alone;
  }

  /**
   * Ends the wait of a payment. If it is still in its queue, nothing was committed. Otherwise the commit may have happened, and the
   * outcome is unknown.
   */
  #giveUp(waiter: Waiter<I>): void {
    const lane = this.#laneOf(waiter);
    const place = lane.indexOf(waiter);
    if (place >= 0) lane.splice(place, 1);
    waiter.answer(place >= 0 ? notSent('chain_unavailable') : unknown('not_mined'));
  }
}
