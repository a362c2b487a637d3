import { type AtomicAmount, atomicAmount } from '../../../../schema/amount.ts';
import { limits } from '../../../../schema/limits.ts';
import type { Hex } from '../abi.ts';
import type { BaseAuthorization } from '../authorization.ts';
import type { ChainReceipt, Market } from '../chain.ts';
import { aggregate, MULTICALL3, paymentCalls, transferCall, USDC } from '../contracts.ts';
import { L1_FEE_BYTES } from '../market.ts';
import type { BaseSignature } from '../signature.ts';
import { type Fees, feesNow } from './fees.ts';

/* Batches of payments that share a transaction: the call, its gas limit and its cost. */

/** An authorization to be settled, with the key of its claim. */
export interface SettleItem {
  readonly claim_key: string;
  readonly authorization: BaseAuthorization;
  readonly signature: BaseSignature;
}

export interface Submission {
  readonly to: Hex;
  readonly data: Hex;
  readonly gas: number;
}

/**
 * Gas measured on Circle's bytecode: 85,700 for a single payment, 102,900 to a payee that never had USDC; per payment 71,600 in a
 * batch of 2 payers, 54,500 of 10, 52,000 of 25, 50,700 of 100. Unused gas is not paid for; EIP-7825 limits a transaction to 16.7
 * million.
 */
const GAS_FIXED = 60_000;
const GAS_PER_AUTHORIZATION = 110_000;

/**
 * Usual gas, not below the measurements. Each payment's share of the fee is checked with it before the commit. A contract wallet's
 * signature check counts as 40,000 (a passkey's on Base uses less); a wallet that must be deployed counts with its whole gas limit.
 */
export const GAS_ORDINARY = { alone: 88_000, batch: 43_000, each_in_batch: 50_500, wallet: 150_000 };

export function gasOrdinary(items: readonly SettleItem[]): number {
  const [only] = items;
  if (!only || items.length > 1) return GAS_ORDINARY.batch + GAS_ORDINARY.each_in_batch * items.length;
  const { signature } = only;
  if (signature.kind === 'ecdsa') return GAS_ORDINARY.alone;
  return signature.deploy === null ? GAS_ORDINARY.wallet : limits.wallet_gas_max;
}

/**
 * Whether one payment of a batch may have used up the gas of the others, because USDC calls the code at a payer's address to verify
 * a signature (ERC-1271). The failure of the others then says nothing about them. Measured batches leave a third of their gas
 * unused; a call that ran out of gas leaves almost none (EIP-150 keeps back a 64th).
 */
export function isStarved({ succeeded, gas_used }: ChainReceipt, items: number): boolean {
  return !succeeded || gas_used > (gasOf(items) * 7) / 8;
}

function gasOf(items: number): number {
  return GAS_FIXED + GAS_PER_AUTHORIZATION * items;
}

/**
 * A single authorization is submitted directly. Several are submitted through Multicall3, at little over half the gas each and with
 * failures allowed. A contract wallet's is submitted exactly as simulated. If the wallet was deployed meanwhile, its factory
 * returns the existing wallet, as ERC-4337 requires, or fails, which is allowed.
 */
export function submissionOf(items: readonly SettleItem[]): Submission {
  const gas = gasOf(items.length);
  const [only] = items;
  if (only && items.length === 1) return submissionOfOne(only, gas);
  const calls = items.map(item => ({ target: USDC, callData: transferCall(item.authorization, item.signature) }));
  return { to: MULTICALL3, data: aggregate(calls), gas };
}

function submissionOfOne({ authorization, signature }: SettleItem, gas: number): Submission {
  if (signature.kind === 'ecdsa') return { to: USDC, data: transferCall(authorization, signature), gas };
  return { to: MULTICALL3, data: aggregate(paymentCalls(authorization, signature)), gas: limits.wallet_gas_max };
}

/** Price of one ether (18 decimals) in atomic USDC (6 decimals). One dollar counts as one USDC. */
export type EthPrice = AtomicAmount;

const WEI_PER_ETHER = 10n ** 18n;

/** Value of an amount of wei in USDC, rounded up, so that a cost is never understated. */
export function usdcOfWei(wei: bigint, price: EthPrice): AtomicAmount {
  return atomicAmount(ceilDiv(wei * price, WEI_PER_ETHER));
}

/** The largest amount of wei that is worth no more than `amount`, so that its `usdcOfWei` never exceeds `amount`. */
export function weiOfUsdc(amount: AtomicAmount, price: EthPrice): bigint {
  return (amount * WEI_PER_ETHER) / price;
}

/** Division that rounds up, for a positive denominator. BigInt's own division rounds towards zero. */
function ceilDiv(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  return numerator > 0n && quotient * denominator < numerator ? quotient + 1n : quotient;
}

/** Limits on the cost of settling. */
export interface FeeBounds {
  /** Limit for each authorization's share of its batch's cost. */
  readonly fee_max_atomic: AtomicAmount;
  /** Limit for all settlements that all processes commit on one UTC day. */
  readonly fee_day_max_atomic: AtomicAmount;
}

/** A batch with the fees at which it would be sent now. */
export interface PricedBatch {
  readonly kind: 'priced';
  readonly submission: Submission;
  readonly fees: Fees;
  /** Maximum cost of the signed transaction: all its gas at the highest price, and the expected L1 fee. */
  readonly worst_wei: bigint;
  readonly worst_atomic: AtomicAmount;
}

type BatchMarket = Pick<Market, 'head' | 'priority_fee_wei' | 'l1_fee_wei'>;

/**
 * Length of a transaction without its calldata: nonce, fees, gas, address and their RLP heads. The oracle itself adds the
 * signature's 68 bytes.
 */
const ENVELOPE_BYTES = 60;

/**
 * Fees for a batch that is sent now, capped so that with usual gas each payment's share stays within its limit in any block.
 * `too_high` if the chain's current fees exceed that cap.
 */
export function priceBatch(
  items: readonly SettleItem[],
  { head, priority_fee_wei, l1_fee_wei }: BatchMarket,
  price: EthPrice,
  fee_max_atomic: AtomicAmount,
): PricedBatch | { readonly kind: 'too_high' } {
  const submission = submissionOf(items);
  const bytes = ENVELOPE_BYTES + (submission.data.length - 2) / 2;
  const l1_wei = ceilDiv(l1_fee_wei * BigInt(Math.max(bytes, L1_FEE_BYTES)), BigInt(L1_FEE_BYTES));
  const gas_purse_wei = weiOfUsdc(atomicAmount(fee_max_atomic * BigInt(items.length)), price) - l1_wei;
  if (gas_purse_wei < 0n) return { kind: 'too_high' };
  const ceiling_wei = gas_purse_wei / BigInt(gasOrdinary(items));
  const priced = feesNow({ base_fee_wei: head.base_fee_wei, priority_fee_wei }, ceiling_wei);
  if (priced.kind !== 'priced') return priced;
  const { fees } = priced;
  const worst_wei = BigInt(submission.gas) * fees.max_fee_wei + l1_wei;
  return { kind: 'priced', submission, fees, worst_wei, worst_atomic: usdcOfWei(worst_wei, price) };
}

/** Whether a payment's share of the gas cost would exceed its limit even in the largest batch. */
export function exceedsEveryLimit(
  { head, priority_fee_wei }: BatchMarket,
  price: EthPrice,
  fee_max_atomic: AtomicAmount,
): boolean {
  return usdcOfWei(BigInt(GAS_ORDINARY.each_in_batch) * (head.base_fee_wei + priority_fee_wei), price) > fee_max_atomic;
}

/** Whether none of the keys could pay even for a payment that is signed by a key, which costs least. */
export function areKeysUnfunded({ keys }: Pick<Market, 'keys'>, { fees }: Pick<PricedBatch, 'fees'>): boolean {
  const least_wei = BigInt(gasOf(1)) * fees.max_fee_wei;
  return keys.every(({ balance_wei }) => balance_wei < least_wei);
}

/**
 * The cost of a batch exceeds a limit. Thrown in the database transaction that would commit the batch, so that it is rolled back.
 */
export class FeeTooHigh extends Error {
  readonly bound: 'settlement' | 'day';

  constructor(bound: 'settlement' | 'day') {
    super(`settling costs more than the limit for one ${bound}`);
    this.name = 'FeeTooHigh';
    this.bound = bound;
  }
}
