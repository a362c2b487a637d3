import type { Clock } from '../../../../subgraphs/clock.ts';
import { DatabaseAway } from '../../../../subgraphs/outage.ts';
import { markMined } from '../../../../subgraphs/receipt/claim/settlement/journal.ts';
import { findSettlement } from '../../../../subgraphs/receipt/claim/settlement/read.ts';
import { type NotSent, notSent, type SettleOutcome, type Unknown, unknown } from '../../outcome.ts';
import { ReceiptWatch } from '../../receipt-watch.ts';
import type { ChainAnswer } from '../../rpc.ts';
import { broadcastCommitted, type Settler } from '../../settler.ts';
import type { Hex } from '../abi.ts';
import type { BaseChain, ChainBlock, ChainReceipt, Market } from '../chain.ts';
import { decideMined, isTooLate, transferOutcome } from '../decide.ts';
import { areKeysUnfunded, isStarved, type SettleItem } from './batch.ts';
import {
  addresses,
  type Batch,
  type JournalledBatch,
  journalBatch,
  type SettlerOptions,
  type SettlingParts,
} from './journal.ts';
import { Quotes } from './quotes.ts';
import { hashesOf, rebroadcastOnBase } from './rebroadcast.ts';
import { type SettlerKey, settlerKey } from './transaction.ts';
import { type Waiter, Waiters } from './waiters.ts';

/** Opens a settler that sends from a pool of keys in this process, with at most one open transaction per key. */
export function openSettler<I extends SettleItem>(options: SettlerOptions<I>): Settler<I> {
  return new PooledSettler(options);
}

class PooledSettler<I extends SettleItem> implements Settler<I> {
  readonly #options: SettlerOptions<I>;
  readonly #parts: SettlingParts;
  readonly #market: MarketWatch;
  readonly #quotes: Quotes;
  readonly #pause: Pause;
  readonly #receipts: ReceiptWatch<ChainReceipt>;
  readonly #waiters: Waiters<I>;
  readonly #busy = new Set<Hex>();
  #pumping = false;
  #closed = false;

  constructor(options: SettlerOptions<I>) {
    const { chain, database, clock, fee_bounds, nudge_ms, stuck_ms } = options;
    const keys = new Map(options.keys.map(settlerKey).map((key): [string, SettlerKey] => [key.address, key]));
    this.#options = options;
    this.#waiters = new Waiters(options.wait_ms);
    this.#parts = { chain, database, keys, fee_bounds, nudge_ms, stuck_ms };
    this.#market = new MarketWatch(chain, clock, addresses(this.#parts));
    this.#pause = new Pause(clock);
    this.#quotes = new Quotes(options.eth_price, fee_bounds.fee_max_atomic);
    this.#receipts = new ReceiptWatch(hashes => chain.receipts(hashes as Hex[]), options.poll_ms);
  }

  settle(item: I): Promise<SettleOutcome> {
    if (this.#closed) return Promise.resolve(notSent('stopped'));
    const settlement = this.#waiters.enter(item);
    void this.#pump();
    return settlement;
  }

  get pause(): NotSent['reason'] | null {
    return this.#pause.reason;
  }

  rebroadcast(): Promise<void> {
    return rebroadcastOnBase(this.#parts);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#waiters.close();
    this.#receipts.close();
  }

  /** Commits one batch at a time. Other payments wait meanwhile, and while all keys are busy. */
  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    await new Promise(setImmediate);
    let held = false;
    while (!held && this.#free().length > 0) {
      const waiters = this.#waiters.take();
      if (waiters.length === 0) break;
      held = await this.#send(waiters).catch(cause => this.#fail(waiters, unknown('journal_failed'), cause));
    }
    this.#pumping = false;
  }

  #free(): Hex[] {
    return addresses(this.#parts).filter(address => !this.#busy.has(address));
  }

  #fail(waiters: readonly Waiter<I>[], settlement: NotSent | Unknown, cause: unknown): boolean {
    for (const waiter of waiters) waiter.answer(settlement);
    this.#options.trouble?.(cause);
    return false;
  }

  /**
   * All checks that can refuse come before the commit: chain unreachable, fees too high, no gas. Returns true if the batch was put
   * back, because no free key has enough gas but a busy one may.
   */
  async #send(taken: readonly Waiter<I>[]): Promise<boolean> {
    const market = await this.#market.read();
    if (market.kind !== 'ok') return this.#fail(taken, notSent('chain_unavailable'), market.cause);
    const { head, keys } = market.value;
    const waiters = await this.#inTime(taken, head);
    if (waiters.length === 0) return false;
    const items = waiters.map(({ item }) => item);
    const quote = this.#quotes.of(items, market.value);
    if (quote.kind === 'refused') {
      if (quote.for_all) this.#pause.begin(quote.reason);
      return this.#fail(waiters, notSent(quote.reason), quote.cause);
    }
    const { priced, eth_price } = quote;
    const funded = keys.filter(key => key.balance_wei >= priced.worst_wei).map(key => key.address);
    if (funded.length === 0) {
      if (areKeysUnfunded(market.value, priced)) this.#pause.begin('out_of_gas');
      return this.#fail(waiters, notSent('out_of_gas'), keys);
    }
    const free = funded.filter(address => !this.#busy.has(address));
    const replaces = [...new Set(waiters.flatMap(({ failed }) => failed?.settlement_id ?? []))];
    if (free.length > 0)
      await this.#journal(waiters, { items, market: market.value, priced, eth_price, free, replaces });
    else this.#waiters.putBack(waiters);
    return free.length === 0;
  }

  /** Keeps the payments that the next block can still accept. The others are refused as expired and cost no gas. */
  async #inTime(waiters: readonly Waiter<I>[], head: ChainBlock): Promise<readonly Waiter<I>[]> {
    const late = await Promise.all(waiters.map(({ item }) => isTooLate(this.#parts.chain, item.authorization, head)));
    return waiters.filter((waiter, index) => {
      if (late[index]) waiter.answer({ kind: 'not_transferred', reason: 'expired' });
      return !late[index];
    });
  }

  async #journal(waiters: readonly Waiter<I>[], batch: Batch<I>): Promise<void> {
    const outcome = await journalBatch(this.#parts, this.#options, batch);
    switch (outcome.kind) {
      case 'failed':
        if (outcome.cause instanceof DatabaseAway) this.#fail(waiters, notSent('journal_failed'), outcome.cause);
        else this.#tryApart(waiters, outcome.cause);
        return;
      case 'too_high':
        if (outcome.cause.bound === 'day') this.#pause.begin('fee_too_high');
        this.#fail(waiters, notSent('fee_too_high'), outcome.cause);
        return;
      case 'in_doubt':
        this.#fail(waiters, unknown('journal_failed'), outcome.cause);
        return;
      case 'lost':
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

  /** Halves the batch until the item that fails is alone, so that it does not affect the others. */
  #tryApart(waiters: readonly Waiter<I>[], cause: unknown): void {
    if (waiters.length === 1) {
      this.#fail(waiters, notSent('journal_failed'), cause);
      return;
    }
    for (const waiter of waiters) waiter.batch_max = Math.ceil(waiters.length / 2);
    this.#waiters.putBack(waiters);
  }

  async #carryOut(journalled: JournalledBatch<I>, waiters: readonly Waiter<I>[]): Promise<void> {
    try {
      await broadcastCommitted(this.#options.chain, journalled.raw, this.#options);
      const receipt = await this.#mined(journalled);
      if (receipt === null) return;
      await this.#decide(waiters, journalled, receipt);
      await markMined(this.#parts.database, journalled.settlement_id, receipt);
    } catch (cause) {
      this.#fail(waiters, unknown('chain_unavailable'), cause);
    } finally {
      this.#busy.delete(journalled.key_address);
      void this.#pump();
    }
  }

  /** If one payment may have used up the gas of the batch, those that failed are sent again in halves. */
  async #decide(waiters: readonly Waiter<I>[], journalled: JournalledBatch<I>, receipt: ChainReceipt): Promise<void> {
    const { hashes, from_block, items, settlement_id } = journalled;
    const starved = items.length > 1 && isStarved(receipt, items.length);
    const decided = waiters.map(async waiter => {
      const { authorization } = waiter.item;
      const done = transferOutcome(receipt, authorization, 'us');
      const decision =
        done ?? (await decideMined(this.#parts.chain, { authorization, attempts: hashes, from_block }, receipt));
      if (starved && decision.kind === 'not_transferred' && decision.reason === 'reverted') {
        waiter.failed = { settlement_id, verdict: decision };
        waiter.batch_max = Math.ceil(items.length / 2);
        return [waiter];
      }
      waiter.answer(decision);
      return [];
    });
    this.#waiters.putBack((await Promise.all(decided)).flat());
  }

  /**
   * Waits without a limit for the transaction to be mined and sends it again meanwhile; its key stays busy. Only one resend runs at
   * a time, because with a slow node or database they would accumulate and use the connections needed to free the key.
   */
  async #mined(journalled: JournalledBatch<I>): Promise<ChainReceipt | null> {
    let nudging = false;
    const nudgeAlone = async () => {
      if (nudging) return;
      nudging = true;
      await this.#nudge(journalled);
      nudging = false;
    };
    const nudge = setInterval(() => void nudgeAlone(), this.#options.nudge_ms);
    try {
      return this.#closed ? null : await this.#receipts.awaitReceipt(journalled);
    } finally {
      clearInterval(nudge);
    }
  }

  async #nudge(journalled: JournalledBatch<I>): Promise<void> {
    try {
      await rebroadcastOnBase(this.#parts, [journalled.key_address]);
      const settlement = await findSettlement(this.#parts.database, journalled.settlement_id);
      if (settlement) journalled.hashes = hashesOf(settlement);
      if (settlement?.state === 'abandoned') this.#receipts.forget(journalled);
    } catch (cause) {
      this.#options.trouble?.(cause);
    }
  }
}

/** Maximum age of fees and head before they are read again: one block of Base. */
const AGE_MS_MAX = 2_000;

/**
 * Caches head, fees and the keys' balances for one block. Reading them also proves that the chain is reachable before anything is
 * committed.
 */
class MarketWatch {
  readonly #chain: BaseChain;
  readonly #clock: Clock;
  readonly #addresses: readonly Hex[];
  #seen: { market: Market; at_ms: number } | null = null;
  #asking: Promise<ChainAnswer<Market>> | null = null;

  constructor(chain: BaseChain, clock: Clock, addresses: readonly Hex[]) {
    this.#chain = chain;
    this.#clock = clock;
    this.#addresses = addresses;
  }

  async read(): Promise<ChainAnswer<Market>> {
    // If the clock was set back, the observation is not used.
    const age_ms = this.#seen === null ? -1 : this.#clock.now_ms() - this.#seen.at_ms;
    if (this.#seen && age_ms >= 0 && age_ms < AGE_MS_MAX) return { kind: 'ok', value: this.#seen.market };
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #ask(): Promise<ChainAnswer<Market>> {
    const market = await this.#chain.market(this.#addresses);
    this.#seen = market.kind === 'ok' ? { market: market.value, at_ms: this.#clock.now_ms() } : null;
    return market;
  }
}

/** Duration of a pause, a little more than two blocks of Base. After each pause one call checks whether the cause persists. */
const PAUSE_MS = 5_000;

/**
 * While the settler would send no payer's payment, no purchase is worked on, because its answer could not be charged. Payments that
 * have already moved are not affected.
 */
class Pause {
  readonly #clock: Clock;
  #begun: { readonly reason: NotSent['reason']; readonly until_ms: number } | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(reason: NotSent['reason']): void {
    this.#begun = { reason, until_ms: this.#clock.now_ms() + PAUSE_MS };
  }

  get reason(): NotSent['reason'] | null {
    return this.#begun && this.#clock.now_ms() < this.#begun.until_ms ? this.#begun.reason : null;
  }
}
