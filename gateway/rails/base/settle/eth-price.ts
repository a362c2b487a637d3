import { type AtomicAmount, atomicAmount } from '../../../../schema/amount.ts';
import type { EthRound, Market } from '../chain.ts';

/** Atomic USDC (6 decimals) for one ether (18). A dollar is taken for one USDC. */
export type EthPrice = AtomicAmount;

/** Why no price is known. */
export type NoPrice = 'absent' | 'unreadable' | 'stale' | 'implausible';
export type PricedEther = { readonly kind: 'price'; readonly price: EthPrice } | { readonly kind: NoPrice };

const WEI_PER_ETHER = 10n ** 18n;
const USDC_DECIMALS = 6n;
const FEED_DECIMALS = 8n;

/** Of the feed: it is renewed every 20 minutes, and sooner where the price moves by 0.15 %; three of them may be missed. */
const ROUND_SECONDS_MAX = 3_600;
/** Outside of these the answer is nobody's price: by one that is far too low any fee would pass. */
const PLAUSIBLE = { min: atomicAmount(100_000_000n), max: atomicAmount(1_000_000_000_000n) };

/** What that much gas money is worth, rounded up: a cost is never counted for less than it is. */
export function usdcOfWei(wei: bigint, price: EthPrice): AtomicAmount {
  return atomicAmount(ceilDiv(wei * price, WEI_PER_ETHER));
}

/** How much gas money is worth no more than that, rounded down: `usdcOfWei` of it is never above the amount. */
export function weiOfUsdc(amount: AtomicAmount, price: EthPrice): bigint {
  return (amount * WEI_PER_ETHER) / price;
}

/** What a round of the feed says at that time of the chain. */
export function priceOfRound(round: EthRound, chain_seconds: number): PricedEther {
  if (round.kind !== 'round') return round;
  if (chain_seconds - round.updated_at_seconds > ROUND_SECONDS_MAX) return { kind: 'stale' };
  const price = ceilDiv(round.answer, 10n ** (FEED_DECIMALS - USDC_DECIMALS));
  if (price < PLAUSIBLE.min || price > PLAUSIBLE.max) return { kind: 'implausible' };
  return { kind: 'price', price: atomicAmount(price) };
}

/** Of a denominator above zero; BigInt's own division goes towards zero. */
export function ceilDiv(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  return numerator > 0n && quotient * denominator < numerator ? quotient + 1n : quotient;
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
    super(`the price of ether is not known (${why}): give ETH_USD, or look after the feed of BASE_RPC_URL`);
    this.name = 'PriceUnknown';
  }
}
