import type { Hex } from './abi.ts';
import type { ChainBlock, ChainReceipt } from './base-shapes.ts';
import type { Reached } from './rpc.ts';
import type { Transfer } from './usdc.ts';

/** What the chain says of a payment before it is submitted. */
export interface Readiness {
  readonly balance_atomic: bigint;
  /** Used or cancelled: it can never move money any more. */
  readonly used: boolean;
  /** A contract, or an account that has delegated to one (EIP-7702): USDC asks its code whether the signature is good. */
  readonly has_code: boolean;
  /** By Circle: it can neither pay nor be paid. */
  readonly blacklisted: boolean;
}

export interface AuthorizationName {
  readonly payer: Hex;
  readonly nonce: Hex;
}

/** How an authorization's nonce was spent: in a transaction of whoever it may be, or by the payer's cancellation. */
export type AuthorizationUse = { readonly kind: 'used'; readonly tx_hash: Hex } | { readonly kind: 'cancelled' };

/** What a node said to a transaction. All but `taken` may still be followed by its being mined: others relay it. */
export type Broadcast =
  | { readonly kind: 'taken' }
  | { readonly kind: 'nonce_too_low' }
  | { readonly kind: 'underpriced' }
  | { readonly kind: 'turned_down'; readonly message: string };

/** All that sending a transaction depends on, seen at one moment. */
export interface Market {
  readonly head: ChainBlock;
  readonly priority_fee_wei: bigint;
  readonly keys: readonly { readonly address: Hex; readonly nonce_pending: number; readonly balance_wei: bigint }[];
}

export type BlockTag = 'latest' | 'finalized' | number;

/**
 * Base, as far as payments look at it. Never throws. Concurrency: `readiness` of callers that wait together is one
 * question to the node; all others share a request where they are made in one turn of the loop.
 */
export interface BaseChain {
  readiness(authorization: AuthorizationName): Promise<Reached<Readiness>>;
  /** `authorizationState` as of that block: a node that lags behind it cannot answer, and so cannot mislead. */
  used(authorization: AuthorizationName, block_number: number): Promise<Reached<boolean>>;
  /** Each for itself, in the order asked: null where it is not mined. One that cannot be had hides none of the others. */
  receipts(hashes: readonly Hex[]): Promise<readonly Reached<ChainReceipt | null>[]>;
  /** Null where the chain has no such block (yet). */
  block(tag: BlockTag): Promise<Reached<ChainBlock | null>>;
  authorizationUse(authorization: AuthorizationName, from_block: number): Promise<Reached<AuthorizationUse | null>>;
  /** Every USDC Transfer to that wallet, in the order of the chain. */
  transfersTo(wallet: Hex, from_block: number): Promise<Reached<readonly Transfer[]>>;
  broadcast(raw: Hex): Promise<Reached<Broadcast>>;
  market(addresses: readonly Hex[]): Promise<Reached<Market>>;
  transactionCount(address: Hex, tag: 'latest' | 'pending'): Promise<Reached<number>>;
  code(address: Hex): Promise<Reached<Hex>>;
  close(): Promise<void>;
}
