import { limits } from '../../../../schema/limits.ts';
import type { Hex } from '../abi.ts';
import type { BaseAuthorization } from '../authorization.ts';
import type { ChainReceipt } from '../chain.ts';
import { aggregate, MULTICALL3, paymentCalls, transferCall, USDC } from '../contracts.ts';
import type { BaseSignature } from '../signature.ts';

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
 * Whether one of a batch may have burnt the gas of the others (USDC asks the code at a payer's address about a signature,
 * ERC-1271): then their failing says nothing about them. Measured batches leave a third of their gas unused; a call
 * that is starved leaves next to none of it (EIP-150 keeps a 64th back).
 */
export function isStarved({ succeeded, gas_used }: ChainReceipt, items: number): boolean {
  return items > 1 && (!succeeded || gas_used > (gasOf(items) * 7) / 8);
}

function gasOf(items: number): number {
  return GAS_FIXED + GAS_PER_AUTHORIZATION * items;
}

/** A contract wallet's code may burn all the gas that it is given: it is given its own, and nobody's else. */
export function goesAlone({ signature }: SettleItem): boolean {
  return signature.kind === 'contract';
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
