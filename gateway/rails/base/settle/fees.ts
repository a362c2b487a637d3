import { type AtomicAmount, atomicAmount } from '../../../../schema/amount.ts';
import type { Market } from '../chain.ts';
import { L1_FEE_BYTES } from '../market.ts';
import { ceilDiv, type EthPrice, usdcOfWei, weiOfUsdc } from './eth-price.ts';
import { GAS_ORDINARY, gasOrdinary, type SettleItem, submissionOf } from './multicall.ts';

/** EIP-1559 fees of one transaction, per gas. */
export interface Fees {
  readonly max_fee_wei: bigint;
  readonly priority_fee_wei: bigint;
}

export type Priced = { readonly kind: 'priced'; readonly fees: Fees } | { readonly kind: 'too_high' };

export interface FeeMarket {
  readonly base_fee_wei: bigint;
  readonly priority_fee_wei: bigint;
}

/**
 * Of a replacement. What it may cost a call is not asked: without it the nonce would be blocked, and all behind it. This
 * alone is what a node that lies about the market can make us pay: more than any block of Base has asked for long.
 */
export const REPLACEMENT_CEILING_WEI = 100_000_000_000n;

/** What a block must ask for before our fee is outbid: it doubles in no less than six full blocks (12.5 % each). */
const BASE_FEE_HEADROOM = 2n;

/** Fees for a transaction sent now; never above the ceiling, which bounds what one unit of gas may cost us. */
export function feesNow({ base_fee_wei, priority_fee_wei }: FeeMarket, ceiling_wei: bigint): Priced {
  if (base_fee_wei + priority_fee_wei > ceiling_wei) return { kind: 'too_high' };
  const max_fee_wei = smaller(base_fee_wei * BASE_FEE_HEADROOM + priority_fee_wei, ceiling_wei);
  return { kind: 'priced', fees: { max_fee_wei, priority_fee_wei } };
}

/** Nodes replace a transaction of the same nonce only where both fees rise by a tenth; an eighth is safe with all. */
function raised(fee_wei: bigint): bigint {
  return fee_wei + fee_wei / 8n + 1n;
}

/** Fees of a replacement for a stuck transaction: what is asked now, and no less than nodes insist on. */
export function feesBumped(previous: Fees, market: FeeMarket, ceiling_wei: bigint): Priced {
  const now = feesNow(market, ceiling_wei);
  if (now.kind !== 'priced') return now;
  const max_fee_wei = larger(raised(previous.max_fee_wei), now.fees.max_fee_wei);
  const priority_fee_wei = larger(raised(previous.priority_fee_wei), now.fees.priority_fee_wei);
  if (max_fee_wei > ceiling_wei) return { kind: 'too_high' };
  return {
    kind: 'priced',
    fees: { max_fee_wei, priority_fee_wei: smaller(priority_fee_wei, max_fee_wei) },
  };
}

/** A transaction whose fee the market has left behind will not be mined as it is. */
export function outbid(sent: Fees, market: FeeMarket): boolean {
  return sent.max_fee_wei < market.base_fee_wei + market.priority_fee_wei;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

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

type BatchMarket = Pick<Market, 'head' | 'priority_fee_wei' | 'l1_fee_wei'>;

/** Nonce, fees, gas, address and their RLP heads; the signature's 68 bytes are in the oracle's own sum. */
const ENVELOPE_BYTES = 60;

/**
 * Fees for a batch that is sent now, capped so that with its ordinary gas each payment's share stays within the bound,
 * whatever the block that takes it asks. Too high where the chain asks for more than that now.
 */
export function priceBatch(
  items: readonly SettleItem[],
  { head, priority_fee_wei, l1_fee_wei }: BatchMarket,
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
  { head, priority_fee_wei }: BatchMarket,
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
