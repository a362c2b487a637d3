import type { AtomicAmount } from '../../../../schema/amount.ts';
import type { NotSent } from '../../outcome.ts';
import type { Market } from '../chain.ts';
import { type BatchFee, FeeTooHigh, isDearForAll, priceBatch } from './batch-fee.ts';
import type { EthPrice } from './eth-price.ts';
import { type PriceSource, PriceUnknown, PriceWatch } from './price-watch.ts';
import type { SettleItem } from './submission.ts';

export type Quote =
  | { readonly kind: 'quoted'; readonly fee: BatchFee; readonly eth_price: EthPrice }
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
    const fee = priceBatch(items, market, ether.price, this.#fee_max_atomic);
    if (fee.kind === 'priced') return { kind: 'quoted', fee, eth_price: ether.price };
    const for_all = isDearForAll(market, ether.price, this.#fee_max_atomic);
    return { kind: 'refused', reason: 'fee_too_high', for_all, cause: new FeeTooHigh('settlement') };
  }
}
