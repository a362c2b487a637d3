import { atomicAmount } from '../../../../schema/amount.ts';
import type { Market } from '../chain.ts';
import { type EthPrice, type NoPrice, type PricedEther, priceOfRound } from './eth-price.ts';

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

/** The till cannot say what a fee is worth. */
export class PriceUnknown extends Error {
  constructor(why: NoPrice) {
    super(`the price of ether is not known (${why}): give ETH_USD, or look after the feed of BASE_RPC_URL`);
    this.name = 'PriceUnknown';
  }
}
