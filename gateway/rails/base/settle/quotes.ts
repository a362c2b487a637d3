import { type AtomicAmount, atomicAmount } from '../../../../schema/amount.ts';
import type { NotSent } from '../../outcome.ts';
import type { EthRound, Market } from '../chain.ts';
import { type EthPrice, FeeTooHigh, isDearForAll, type PricedBatch, priceBatch, type SettleItem } from './batch.ts';

/* What ether is worth now, and by that what sending a batch would cost. */

/** Why no price is known. */
export type NoPrice = 'absent' | 'unreadable' | 'stale' | 'implausible';
export type PricedEther = { readonly kind: 'price'; readonly price: EthPrice } | { readonly kind: NoPrice };

/** The feed's 8 decimals are more than USDC's 6. */
const FEED_UNITS = 100n;

/** Of the feed: it is renewed every 20 minutes, and sooner where the price moves by 0.15 %; three of them may be missed. */
const ROUND_SECONDS_MAX = 3_600;
/** Outside of these the answer is nobody's price: by one that is far too low any fee would pass. */
const PLAUSIBLE = { min: atomicAmount(100_000_000n), max: atomicAmount(1_000_000_000_000n) };

/** What a round of the feed says at that time of the chain. */
export function priceOfRound(round: EthRound, chain_seconds: number): PricedEther {
  if (round.kind !== 'round') return round;
  if (chain_seconds - round.updated_at_seconds > ROUND_SECONDS_MAX) return { kind: 'stale' };
  const price = (round.answer + FEED_UNITS - 1n) / FEED_UNITS;
  if (price < PLAUSIBLE.min || price > PLAUSIBLE.max) return { kind: 'implausible' };
  return { kind: 'price', price: atomicAmount(price) };
}

/**
 * On a chain without a feed, in development: a development chain asks a hundred to a thousand times the fees of Base, so
 * that its ether is taken for one dollar, and the ordinary ceilings hold there as well.
 */
const DEVELOPMENT_PRICE: EthPrice = atomicAmount(1_000_000n);

/** A price that was true this long ago still tells a fee of a cent from one of a dollar. */
const KEPT_SECONDS_MAX = 6 * 3_600;

export interface PriceSource {
  /** Given by the operator: no feed is asked then. */
  readonly given: EthPrice | null;
  readonly profile: 'development' | 'production';
}

/**
 * What an ether is worth now: as given, or else by Chainlink's feed on Base, or what that last said, for six hours. After
 * that, and where no feed stands, nothing is known: whoever would settle has to wait, since no bound on fees would hold.
 */
export class PriceWatch {
  readonly #source: PriceSource;
  #last: { readonly price: EthPrice; readonly at_seconds: number } | null = null;

  constructor(source: PriceSource) {
    this.#source = source;
  }

  at({ eth_round, head: { timestamp_seconds } }: Pick<Market, 'eth_round' | 'head'>): PricedEther {
    const { given, profile } = this.#source;
    if (given !== null) return { kind: 'price', price: given };
    const priced = priceOfRound(eth_round, timestamp_seconds);
    if (priced.kind === 'price') {
      this.#last = { price: priced.price, at_seconds: timestamp_seconds };
      return priced;
    }
    if (priced.kind === 'absent' && profile === 'development') return { kind: 'price', price: DEVELOPMENT_PRICE };
    return this.#kept(timestamp_seconds) ?? priced;
  }

  #kept(now_seconds: number): PricedEther | null {
    if (this.#last === null || now_seconds - this.#last.at_seconds > KEPT_SECONDS_MAX) return null;
    return { kind: 'price', price: this.#last.price };
  }
}

/** What a fee is worth cannot be said, so no bound on fees would hold. */
export class PriceUnknown extends Error {
  constructor(why: NoPrice) {
    super(`the price of ether is unknown (${why}); set ETH_USD, or check the price feed behind BASE_RPC_URL`);
    this.name = 'PriceUnknown';
  }
}

export type Quote =
  | { readonly kind: 'quoted'; readonly priced: PricedBatch; readonly eth_price: EthPrice }
  | {
      readonly kind: 'refused';
      readonly reason: NotSent['reason'];
      /** Whoever paid now would hear the same. */
      readonly for_all: boolean;
      readonly cause: Error;
    };

/** What sending a batch would cost now, or why it costs too much. */
export class Quotes {
  readonly #price: PriceWatch;
  readonly #fee_max_atomic: AtomicAmount;

  constructor(source: PriceSource, fee_max_atomic: AtomicAmount) {
    this.#price = new PriceWatch(source);
    this.#fee_max_atomic = fee_max_atomic;
  }

  of(items: readonly SettleItem[], market: Market): Quote {
    const ether = this.#price.at(market);
    if (ether.kind !== 'price')
      return { kind: 'refused', reason: 'price_unknown', for_all: true, cause: new PriceUnknown(ether.kind) };
    const priced = priceBatch(items, market, ether.price, this.#fee_max_atomic);
    if (priced.kind === 'priced') return { kind: 'quoted', priced, eth_price: ether.price };
    const for_all = isDearForAll(market, ether.price, this.#fee_max_atomic);
    return { kind: 'refused', reason: 'fee_too_high', for_all, cause: new FeeTooHigh('settlement') };
  }
}
