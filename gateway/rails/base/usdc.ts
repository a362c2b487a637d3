import { networks } from '../../../schema/network.ts';
import { type Hex, keccakText, selector, tail, words } from './abi.ts';
import { type Authorization, authorizationWords } from './authorization.ts';
import type { ChainLog } from './base-shapes.ts';
import type { Signature } from './signature.ts';

/** USDC on Base (Circle's FiatTokenV2_2), in as much of its interface as a payment touches. */
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

/** An address, or any 32 bytes, as it stands in an indexed topic. */
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

/** Of the two overloads the one that its signature fits. */
export function transferCall(authorization: Authorization, signature: Signature): Hex {
  const head = authorizationWords(authorization);
  if (signature.kind === 'ecdsa') {
    const { v, r, s } = signature;
    return `0x${selectors.transferWithAuthorization}${head}${words(v, r, s)}`;
  }
  return `0x${selectors.transferWithAuthorizationBytes}${head}${words(AFTER_SEVEN_WORDS)}${tail(signature.bytes)}`;
}

/** Where the tail of a call with seven head words begins. */
const AFTER_SEVEN_WORDS = 7 * 32;

export interface Transfer {
  readonly from: Hex;
  readonly to: Hex;
  readonly amount_atomic: bigint;
  readonly tx_hash: Hex;
  /** Log index inside its block. */
  readonly log_index: number;
  readonly block_number: number;
}

/** USDC's Transfer in a log; null where it is another event or another token's. */
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

export function isUseOf(log: ChainLog, { payer, nonce }: Pick<Authorization, 'payer' | 'nonce'>): boolean {
  const [event, authorizer, used] = log.topics;
  return log.address === USDC && event === topics.authorizationUsed && authorizer === topic(payer) && used === nonce;
}
