import { limits } from '../../schema/limits.ts';
import { markMined } from '../../subgraphs/receipt/index.ts';
import type { Hex } from './abi.ts';
import type { ChainReceipt } from './base-shapes.ts';
import { decideMined } from './decide.ts';
import { addresses, type Desk } from './desk.ts';
import { feesNow } from './fees.ts';
import { type Batch, type Journalled, journal } from './journal.ts';
import { MarketWatch } from './market-watch.ts';
import { type NotSent, type Settlement, transferred, type Unknown } from './outcome.ts';
import { rebroadcast } from './rebroadcast.ts';
import { ReceiptWatch } from './receipt-watch.ts';
import { attemptsOf } from './reconcile-settlement.ts';
import type { Settler, SettlerOptions } from './settle.ts';
import { type SettleItem, submissionOf } from './submission.ts';
import { type SettlerKey, settlerKey } from './transaction.ts';

/** One caller who waits. The first answer counts. */
interface Waiter<I> {
  readonly item: I;
  /** With how many it may share a transaction. */
  batch_max: number;
  answer(settlement: Settlement): void;
}

const notSent = (reason: NotSent['reason']): NotSent => ({ kind: 'not_sent', reason });
const unknown = (reason: Unknown['reason']): Unknown => ({ kind: 'unknown', reason });

/** Settles in process with a pool of keys: at most one transaction per key is under way in this process. */
export function openSettler<I extends SettleItem>(options: SettlerOptions<I>): Settler<I> {
  return new PooledSettler(options);
}

class PooledSettler<I extends SettleItem> implements Settler<I> {
  readonly #options: SettlerOptions<I>;
  readonly #desk: Desk;
  readonly #market: MarketWatch;
  readonly #receipts: ReceiptWatch;
  readonly #busy = new Set<Hex>();
  readonly #underway = new Set<Waiter<I>>();
  #waiting: Waiter<I>[] = [];
  #pumping = false;
  #closed = false;

  constructor(options: SettlerOptions<I>) {
    const { chain, database, clock, fee_ceiling_wei, nudge_ms, stuck_ms } = options;
    const keys = new Map(options.keys.map(settlerKey).map((key): [string, SettlerKey] => [key.address, key]));
    this.#options = options;
    this.#desk = { chain, database, keys, fee_ceiling_wei, nudge_ms, stuck_ms };
    this.#market = new MarketWatch(chain, clock, addresses(this.#desk));
    this.#receipts = new ReceiptWatch(chain, options.poll_ms);
  }

  settle(item: I): Promise<Settlement> {
    if (this.#closed) return Promise.resolve(notSent('stopped'));
    return new Promise(resolve => {
      const waiter: Waiter<I> = {
        item,
        batch_max: limits.settlement_batch_authorisations_max,
        answer: settlement => {
          clearTimeout(timer);
          this.#underway.delete(waiter);
          resolve(settlement);
        },
      };
      const timer = setTimeout(() => this.#giveUp(waiter), this.#options.wait_ms);
      this.#waiting.push(waiter);
      void this.#pump();
    });
  }

  rebroadcast(): Promise<void> {
    return rebroadcast(this.#desk);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const waiter of this.#waiting) waiter.answer(notSent('stopped'));
    for (const waiter of this.#underway) waiter.answer(unknown('stopped'));
    this.#waiting = [];
    this.#receipts.close();
  }

  /** No key has become free for it: nothing stands. Otherwise it is committed, and the chain has not said. */
  #giveUp(waiter: Waiter<I>): void {
    const queued = this.#waiting.includes(waiter);
    this.#waiting = this.#waiting.filter(other => other !== waiter);
    waiter.answer(queued ? notSent('chain_unavailable') : unknown('not_mined'));
  }

  /** One batch is journalled at a time; while it is, and while all keys are busy, others gather. */
  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    await new Promise(setImmediate);
    let held = false;
    while (this.#waiting.length > 0 && this.#free().length > 0 && !held) {
      const waiters = this.#take();
      held = await this.#send(waiters).catch(cause => this.#fail(waiters, unknown('journal_failed'), cause));
    }
    this.#pumping = false;
  }

  #take(): Waiter<I>[] {
    const waiters = this.#waiting.splice(0, this.#waiting[0]?.batch_max);
    for (const waiter of waiters) this.#underway.add(waiter);
    return waiters;
  }

  #putBack(waiters: readonly Waiter<I>[]): void {
    const still = waiters.filter(waiter => this.#underway.delete(waiter));
    this.#waiting.unshift(...still);
  }

  #free(): Hex[] {
    return addresses(this.#desk).filter(address => !this.#busy.has(address));
  }

  #fail(waiters: readonly Waiter<I>[], settlement: NotSent | Unknown, cause: unknown): boolean {
    for (const waiter of waiters) waiter.answer(settlement);
    this.#options.trouble?.(cause);
    return false;
  }

  /**
   * All that can refuse comes before the commit: chain out of reach, fees above the ceiling, no gas. True where the
   * batch was put back: the free keys have no gas, but a busy one may.
   */
  async #send(waiters: readonly Waiter<I>[]): Promise<boolean> {
    const items = waiters.map(({ item }) => item);
    const market = await this.#market.read();
    if (market.kind !== 'ok') return this.#fail(waiters, notSent('chain_unavailable'), market.cause);
    const { head, priority_fee_wei, keys } = market.value;
    const priced = feesNow({ base_fee_wei: head.base_fee_wei, priority_fee_wei }, this.#desk.fee_ceiling_wei);
    if (priced.kind !== 'priced') return this.#fail(waiters, notSent('fee_too_high'), priced);
    const cost_wei = BigInt(submissionOf(items).gas) * priced.fees.max_fee_wei;
    const funded = keys.filter(key => key.balance_wei >= cost_wei).map(key => key.address);
    if (funded.length === 0) return this.#fail(waiters, notSent('out_of_gas'), keys);
    const free = funded.filter(address => !this.#busy.has(address));
    if (free.length > 0) await this.#journal(waiters, { items, market: market.value, fees: priced.fees, free });
    else this.#putBack(waiters);
    return free.length === 0;
  }

  async #journal(waiters: readonly Waiter<I>[], batch: Batch<I>): Promise<void> {
    const { random, commitSettling } = this.#options;
    const outcome = await journal(this.#desk, random, commitSettling, batch);
    switch (outcome.kind) {
      case 'failed':
        this.#tryApart(waiters, outcome.cause);
        return;
      case 'in_doubt':
        this.#fail(waiters, unknown('journal_failed'), outcome.cause);
        return;
      case 'nothing_left':
        for (const waiter of waiters) waiter.answer(notSent('claim_lost'));
        return;
      case 'journalled': {
        const kept = new Set<I>(outcome.journalled.items);
        for (const waiter of waiters) if (!kept.has(waiter.item)) waiter.answer(notSent('claim_lost'));
        this.#busy.add(outcome.journalled.key_address);
        void this.#carryOut(
          outcome.journalled,
          waiters.filter(({ item }) => kept.has(item)),
        );
      }
    }
  }

  /** One bad item must not harm the others: halves of the batch go apart, until the bad one is alone. */
  #tryApart(waiters: readonly Waiter<I>[], cause: unknown): void {
    if (waiters.length === 1) {
      this.#fail(waiters, notSent('journal_failed'), cause);
      return;
    }
    for (const waiter of waiters) waiter.batch_max = Math.ceil(waiters.length / 2);
    this.#putBack(waiters);
  }

  async #carryOut(journalled: Journalled<I>, waiters: readonly Waiter<I>[]): Promise<void> {
    const { chain, faults, trouble } = this.#options;
    try {
      await faults?.reach('after_settling');
      // Whatever the node says: what it mines decides, and what it lost is sent again.
      const answer = await chain.broadcast(journalled.raw);
      if (answer.kind !== 'ok' || answer.value.kind !== 'taken') trouble?.(answer);
      await faults?.reach('after_broadcast');
      const receipt = await this.#mined(journalled);
      if (receipt === null) return;
      await Promise.all(waiters.map(waiter => this.#decide(waiter, journalled, receipt)));
      await markMined(this.#desk.database, journalled.settlement_id, receipt);
    } catch (cause) {
      this.#fail(waiters, unknown('chain_unavailable'), cause);
    } finally {
      this.#busy.delete(journalled.key_address);
      void this.#pump();
    }
  }

  async #decide({ item, answer }: Waiter<I>, journalled: Journalled<I>, receipt: ChainReceipt): Promise<void> {
    const { authorization } = item;
    const { hashes, from_block } = journalled;
    const facts = { authorization, attempts: hashes, from_block };
    answer(transferred(receipt, authorization, 'us') ?? (await decideMined(this.#desk.chain, facts, receipt)));
  }

  /** Waits for as long as it takes, sending again what is not mined; the key stays busy for that long. */
  async #mined(journalled: Journalled<I>): Promise<ChainReceipt | null> {
    const nudge = setInterval(() => void this.#nudge(journalled), this.#options.nudge_ms);
    try {
      return this.#closed ? null : await this.#receipts.mined(journalled);
    } finally {
      clearInterval(nudge);
    }
  }

  async #nudge(journalled: Journalled<I>): Promise<void> {
    try {
      await rebroadcast(this.#desk, [journalled.key_address]);
      journalled.hashes = await attemptsOf(this.#desk.database, journalled.settlement_id);
    } catch (cause) {
      this.#options.trouble?.(cause);
    }
  }
}
