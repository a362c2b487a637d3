import { type AtomicAmount, atomicAmount } from '../../../../schema/amount.ts';
import { limits } from '../../../../schema/limits.ts';
import type { Hex } from '../abi.ts';
import type { BaseAuthorization } from '../authorization.ts';
import type { ChainReceipt, Market } from '../chain.ts';
import { aggregate, MULTICALL3, paymentCalls, transferCall, USDC } from '../contracts.ts';
import { L1_FEE_BYTES } from '../market.ts';
import type { BaseSignature } from '../signature.ts';
import { type Fees, feesNow } from './fees.ts';

/* Payments that share a transaction: the call that it makes, the gas that it may use, and what that costs. */

/** An authorization on its way to the chain. `claim_key` is the claim that it settles. */
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
 * Measured on Circle's bytecode: 85,700 alone, 102,900 to a payee that never had USDC; each of 2 payers together 71,600,
 * of 10 54,500, of 25 52,000, of 100 50,700. What is not used is not paid; EIP-7825 bounds a transaction at 16.7 million.
 */
const GAS_FIXED = 60_000;
const GAS_PER_AUTHORIZATION = 110_000;

/**
 * What they use as a rule, no less than was measured: their share of the fee is judged by it, before anything is committed.
 * A contract wallet's own check of the signature is taken for 40,000 (a passkey's on Base is less); one that is still to
 * be made may cost all that it is given.
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
 * Whether one of several may have burnt the gas of the others (USDC asks the code at a payer's address about a signature,
 * ERC-1271): then their failing says nothing about them. Measured batches leave a third of their gas unused; a call
 * that is starved leaves next to none of it (EIP-150 keeps a 64th back).
 */
export function isStarved({ succeeded, gas_used }: ChainReceipt, items: number): boolean {
  return !succeeded || gas_used > (gasOf(items) * 7) / 8;
}

function gasOf(items: number): number {
  return GAS_FIXED + GAS_PER_AUTHORIZATION * items;
}

/**
 * One authorization is submitted as it is, several through Multicall3: little over half the gas each, and each may fail
 * alone. A contract wallet's is submitted exactly as it was simulated. It may have been deployed since: its factory gives
 * back what stands, as ERC-4337 wants, or fails, which is allowed.
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

/** Atomic USDC (6 decimals) for one ether (18). A dollar is taken for one USDC. */
export type EthPrice = AtomicAmount;

const WEI_PER_ETHER = 10n ** 18n;

/** What that much gas money is worth, rounded up: a cost is never counted for less than it is. */
export function usdcOfWei(wei: bigint, price: EthPrice): AtomicAmount {
  return atomicAmount(ceilDiv(wei * price, WEI_PER_ETHER));
}

/** How much gas money is worth no more than that, rounded down: `usdcOfWei` of it is never above the amount. */
export function weiOfUsdc(amount: AtomicAmount, price: EthPrice): bigint {
  return (amount * WEI_PER_ETHER) / price;
}

/** Of a denominator above zero; BigInt's own division goes towards zero. */
function ceilDiv(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  return numerator > 0n && quotient * denominator < numerator ? quotient + 1n : quotient;
}

/** What settling may cost. */
export interface FeeBounds {
  /** For each authorization its share of what its batch costs. */
  readonly fee_max_atomic: AtomicAmount;
  /** For all settlements that were committed on one UTC day, by whichever process. */
  readonly fee_day_max_atomic: AtomicAmount;
}

/** A batch as it would be sent now. */
export interface PricedBatch {
  readonly kind: 'priced';
  readonly submission: Submission;
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

/** Whether even a payment that shares its transaction with as many as can be is too dear. */
export function isDearForAll(
  { head, priority_fee_wei }: BatchMarket,
  price: EthPrice,
  fee_max_atomic: AtomicAmount,
): boolean {
  return usdcOfWei(BigInt(GAS_ORDINARY.each_in_batch) * (head.base_fee_wei + priority_fee_wei), price) > fee_max_atomic;
}

/** Whether none of the keys could so much as pay for one payment that a key has signed, which costs least. */
export function isBrokeForAll({ keys }: Pick<Market, 'keys'>, { fees }: Pick<PricedBatch, 'fees'>): boolean {
  const least_wei = BigInt(gasOf(1)) * fees.max_fee_wei;
  return keys.every(({ balance_wei }) => balance_wei < least_wei);
}

/** Thrown in the transaction that would commit it, which so comes to nothing: dearer than its bound or the day's. */
export class FeeTooHigh extends Error {
  readonly bound: 'settlement' | 'day';

  constructor(bound: 'settlement' | 'day') {
    super(`settling costs more than the limit for one ${bound}`);
    this.name = 'FeeTooHigh';
    this.bound = bound;
  }
}
