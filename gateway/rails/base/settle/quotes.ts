import { type AtomicAmount, atomicAmount } from '../../../../schema/amount.ts';
import type { NotSent } from '../../outcome.ts';
import type { EthRound, Market } from '../chain.ts';
import {
  type EthPrice,
  exceedsEveryLimit,
  FeeTooHigh,
  type PricedBatch,
  priceBatch,
  type SettleItem,
} from './batch.ts';

/* The price of ether, and the cost of sending a batch. */

/** Reason why the price is unknown. */
export type PriceFault = 'absent' | 'unreadable' | 'stale' | 'implausible';
export type PricedEther = { readonly kind: 'price'; readonly price: EthPrice } | { readonly kind: PriceFault };

/** Feed units per unit of atomic USDC: the feed has 8 decimals, USDC 6. */
const FEED_UNITS = 100n;

/**
 * Maximum age of a round. The feed is updated every 20 minutes, or sooner if the price moves by 0.15 %, so three updates may be
 * missed.
 */
const ROUND_SECONDS_MAX = 3_600;
/** Values outside this range are rejected as prices: with a price that is far too low, any fee would pass the limits. */
const PLAUSIBLE = { min: atomicAmount(100_000_000n), max: atomicAmount(1_000_000_000_000n) };

/** The price of ether in a round of the feed, if the chain's current time is `chain_seconds`. */
export function priceOfRound(round: EthRound, chain_seconds: number): PricedEther {
  if (round.kind !== 'round') return round;
  if (chain_seconds - round.updated_at_seconds > ROUND_SECONDS_MAX) return { kind: 'stale' };
  const price = (round.answer + FEED_UNITS - 1n) / FEED_UNITS;
  if (price < PLAUSIBLE.min || price > PLAUSIBLE.max) return { kind: 'implausible' };
  return { kind: 'price', price: atomicAmount(price) };
}

/**
 * Price on a development chain without a feed. Fees there are a hundred to a thousand times those of Base, so its ether counts as
 * one dollar, which lets the usual limits work.
 */
const DEVELOPMENT_PRICE: EthPrice = atomicAmount(1_000_000n);

/** Maximum age of a kept price. A price of that age still distinguishes a fee of a cent from a fee of a dollar. */
const KEPT_SECONDS_MAX = 6 * 3_600;

export interface PriceSource {
  /** Price set by the operator, in place of the feed's; null if none is set. */
  readonly given: EthPrice | null;
  readonly profile: 'development' | 'production';
}

/**
 * The price of ether: the configured one, or the one of Chainlink's feed on Base, or the feed's last value for six hours.
 * Afterwards, or without a feed, the price is unknown and nothing is settled, because no limit on fees could be checked.
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

/** The price of ether is unknown, so no limit on fees could be checked. */
export class PriceUnknown extends Error {
  constructor(why: PriceFault) {
    super(`the price of ether is unknown (${why}); set ETH_USD, or check the price feed behind BASE_RPC_URL`);
    this.name = 'PriceUnknown';
  }
}

export type Quote =
  | { readonly kind: 'quoted'; readonly priced: PricedBatch; readonly eth_price: EthPrice }
  | {
      readonly kind: 'refused';
      readonly reason: NotSent['reason'];
      /** Whether every payer's batch would be refused now. */
      readonly for_all: boolean;
      readonly cause: Error;
    };

/** Calculates the cost of sending a batch now, or why the batch is refused. */
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
    const for_all = exceedsEveryLimit(market, ether.price, this.#fee_max_atomic);
    return { kind: 'refused', reason: 'fee_too_high', for_all, cause: new FeeTooHigh('settlement') };
  }
}
