import { decodeFunctionResult, encodeFunctionData, multicall3Abi } from 'viem';
import { networks } from '../../../schema/network.ts';
import { type Hex, hex, keccakText, selector, tail, words } from './abi.ts';
import { authorizationWords, type BaseAuthorization } from './authorization.ts';
import type { ChainLog, ContractCall, Transfer } from './chain.ts';
import type { BaseSignature, ContractSignature } from './signature.ts';

/** Address of USDC on Base (Circle's FiatTokenV2_2), in lower case. */
export const USDC = networks.base.usdc.toLowerCase() as Hex;

export const topics = {
  transfer: keccakText('Transfer(address,address,uint256)'),
  authorizationUsed: keccakText('AuthorizationUsed(address,bytes32)'),
  authorizationCanceled: keccakText('AuthorizationCanceled(address,bytes32)'),
} as const;

const selectors = {
  balanceOf: selector('balanceOf(address)'),
  isBlacklisted: selector('isBlacklisted(address)'),
  authorizationState: selector('authorizationState(address,bytes32)'),
  transferWithAuthorization: selector(
    'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)',
  ),
  transferWithAuthorizationBytes: selector(
    'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)',
  ),
} as const;

/** Encodes an address, or any 32 bytes, as an indexed topic of a log. */
export function topic(value: Hex): Hex {
  return `0x${words(value)}`;
}

export function balanceCall(wallet: Hex): Hex {
  return `0x${selectors.balanceOf}${words(wallet)}`;
}

export function blacklistCall(wallet: Hex): Hex {
  return `0x${selectors.isBlacklisted}${words(wallet)}`;
}

export function stateCall(payer: Hex, nonce: Hex): Hex {
  return `0x${selectors.authorizationState}${words(payer, nonce)}`;
}

/** Calldata of a transfer, by the overload of the function that fits the form of the signature. */
export function transferCall(authorization: BaseAuthorization, signature: BaseSignature): Hex {
  const head = authorizationWords(authorization);
  if (signature.kind === 'ecdsa') {
    const { v, r, s } = signature;
    return `0x${selectors.transferWithAuthorization}${head}${words(v, r, s)}`;
  }
  return `0x${selectors.transferWithAuthorizationBytes}${head}${words(AFTER_SEVEN_WORDS)}${tail(signature.bytes)}`;
}

/** Offset in bytes of the tail of a call with seven head words. */
const AFTER_SEVEN_WORDS = 7 * 32;

/** Reads USDC's Transfer from a log; null if it is another event or token. */
export function readTransfer({ address, topics: [event, from, to], data, ...log }: ChainLog): Transfer | null {
  if (address !== USDC || event !== topics.transfer || !from || !to || data.length !== 66) return null;
  return {
    from: `0x${from.slice(26)}`,
    to: `0x${to.slice(26)}`,
    amount_atomic: BigInt(data),
    tx_hash: log.tx_hash,
    log_index: log.log_index,
    block_number: log.block_number,
  };
}

export function isUseOf(log: ChainLog, { payer, nonce }: Pick<BaseAuthorization, 'payer' | 'nonce'>): boolean {
  const [event, authorizer, used] = log.topics;
  return log.address === USDC && event === topics.authorizationUsed && authorizer === topic(payer) && used === nonce;
}

export const MULTICALL3 = networks.base.multicall3.toLowerCase() as Hex;

/** Calldata of Multicall3 that makes many calls in one. Each may fail by itself, so one bad authorization affects no other. */
export function aggregate(calls: readonly ContractCall[]): Hex {
  const args = [calls.map(call => ({ ...call, allowFailure: true }))] as const;
  return encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args });
}

/** Result of each call; null if the call failed. @throws if the data does not have that many results. */
export function readAggregate(data: Hex, calls: number): (Hex | null)[] {
  const results = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data });
  if (results.length !== calls) throw new Error(`${calls} calls returned ${results.length} results`);
  return results.map(({ success, returnData }) => (success ? returnData : null));
}

/**
 * ERC-1271's return value for a valid signature, compared as a whole word of 32 bytes: a precompile might return the first four by
 * chance.
 */
export const VALID_SIGNATURE: Hex = `0x${selector('isValidSignature(bytes32,bytes)').padEnd(64, '0')}`;

const AFTER_TWO_WORDS = 2 * 32;

/** Calls for a contract wallet's payment: its deployment if necessary, then the transfer. */
export function paymentCalls(authorization: BaseAuthorization, signature: ContractSignature): ContractCall[] {
  return after(signature, { target: USDC, callData: transferCall(authorization, signature) });
}

/** Calls that check by ERC-1271 whether a signature is a contract wallet's. They deploy the wallet first if necessary. */
export function proofCalls(wallet: Hex, digest: Uint8Array, signature: ContractSignature): ContractCall[] {
  const question = `${words(hex(digest), AFTER_TWO_WORDS)}${tail(signature.bytes)}`;
  const callData: Hex = `0x${selector('isValidSignature(bytes32,bytes)')}${question}`;
  return after(signature, { target: wallet, callData });
}

function after({ deploy }: ContractSignature, call: ContractCall): ContractCall[] {
  return deploy ? [{ target: deploy.factory, callData: deploy.data }, call] : [call];
}
