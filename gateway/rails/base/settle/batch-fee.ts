import { type AtomicAmount, atomicAmount } from '../../../../schema/amount.ts';
import type { Market } from '../chain.ts';
import { L1_FEE_BYTES } from '../market.ts';
import { ceilDiv, type EthPrice, usdcOfWei, weiOfUsdc } from './eth-price.ts';
import { type Fees, feesNow } from './fees.ts';
import { GAS_ORDINARY, gasOrdinary, type SettleItem, submissionOf } from './submission.ts';

/** What settling may cost. */
export interface FeeBounds {
  /** For each authorization its share of what its batch costs. */
  readonly fee_max_atomic: AtomicAmount;
  /** For all settlements that were committed on one UTC day, by whichever process. */
  readonly fee_day_max_atomic: AtomicAmount;
}

export interface BatchFee {
  readonly kind: 'priced';
  readonly fees: Fees;
  /** At most, by what is signed: all of its gas at its highest price, and its data on L1 as far as that can be foretold. */
  readonly worst_wei: bigint;
  readonly worst_atomic: AtomicAmount;
}

type FeeMarket = Pick<Market, 'head' | 'priority_fee_wei' | 'l1_fee_wei'>;

/** Nonce, fees, gas, address and their RLP heads; the signature's 68 bytes are in the oracle's own sum. */
const ENVELOPE_BYTES = 60;

/**
 * Fees for a batch that is sent now, capped so that with its ordinary gas each payment's share stays within the bound,
 * whatever the block that takes it asks. Too high where the chain asks for more than that now.
 */
export function priceBatch(
  items: readonly SettleItem[],
  { head, priority_fee_wei, l1_fee_wei }: FeeMarket,
  price: EthPrice,
  fee_max_atomic: AtomicAmount,
): BatchFee | { readonly kind: 'too_high' } {
  const { gas, data } = submissionOf(items);
  const bytes = ENVELOPE_BYTES + (data.length - 2) / 2;
  const l1_wei = ceilDiv(l1_fee_wei * BigInt(Math.max(bytes, L1_FEE_BYTES)), BigInt(L1_FEE_BYTES));
  const gas_purse_wei = weiOfUsdc(atomicAmount(fee_max_atomic * BigInt(items.length)), price) - l1_wei;
  if (gas_purse_wei < 0n) return { kind: 'too_high' };
  const ceiling_wei = gas_purse_wei / BigInt(gasOrdinary(items));
  const priced = feesNow({ base_fee_wei: head.base_fee_wei, priority_fee_wei }, ceiling_wei);
  if (priced.kind !== 'priced') return priced;
  const worst_wei = BigInt(gas) * priced.fees.max_fee_wei + l1_wei;
  return { kind: 'priced', fees: priced.fees, worst_wei, worst_atomic: usdcOfWei(worst_wei, price) };
}

/** Whether even a payment that shares its transaction with as many as can be is too dear. */
export function isDearForAll(
  { head, priority_fee_wei }: FeeMarket,
  price: EthPrice,
  fee_max_atomic: AtomicAmount,
): boolean {
  return usdcOfWei(BigInt(GAS_ORDINARY.each_in_batch) * (head.base_fee_wei + priority_fee_wei), price) > fee_max_atomic;
}

/** Thrown in the transaction that would commit it, which so comes to nothing: dearer than its bound or the day's. */
export class FeeTooHigh extends Error {
  readonly bound: 'settlement' | 'day';

  constructor(bound: 'settlement' | 'day') {
    super(`settling costs more than is spent on one ${bound}`);
    this.name = 'FeeTooHigh';
    this.bound = bound;
  }
}
