import type { Reached } from '../rpc.ts';
import type { Hex } from './abi.ts';
import type { ChainBlock, ChainReceipt } from './base-shapes.ts';
import type { Call } from './multicall.ts';
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

/** A payer at one moment of the chain. */
export interface Holdings {
  readonly balance_atomic: bigint;
  /** Of each authorization that was asked after, in that order: whether it is used or cancelled. */
  readonly used: readonly boolean[];
}

export interface AuthorizationName {
  readonly payer: Hex;
  readonly nonce: Hex;
}

/**
 * How an authorization's nonce was spent: in a transaction of whoever it may be, or by the payer's cancellation; or that
 * no log up to a block, the head of the node that answered, says so.
 */
export type AuthorizationUse =
  | { readonly kind: 'used'; readonly tx_hash: Hex }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'unseen'; readonly searched_to: number };

/** What a node said to a transaction. All but `taken` may still be followed by its being mined: others relay it. */
export type Broadcast =
  | { readonly kind: 'taken' }
  | { readonly kind: 'nonce_too_low' }
  | { readonly kind: 'underpriced' }
  | { readonly kind: 'turned_down'; readonly message: string };

/** EIP-1559 fees, per gas. */
export interface CallFees {
  readonly max_fee_wei: bigint;
  readonly priority_fee_wei: bigint;
}

/** A round of the price feed; `absent`: no contract stands there, as on a development chain. */
export type EthRound =
  | { readonly kind: 'round'; readonly answer: bigint; readonly updated_at_seconds: number }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable' };

/** All that sending a transaction depends on, seen at one moment. */
export interface Market {
  readonly head: ChainBlock;
  readonly priority_fee_wei: bigint;
  readonly eth_round: EthRound;
  /** Of the first `L1_FEE_BYTES` of a transaction's bytes; nothing on a chain that takes none. */
  readonly l1_fee_wei: bigint;
  readonly keys: readonly { readonly address: Hex; readonly nonce_pending: number; readonly balance_wei: bigint }[];
}

export type BlockTag = 'latest' | 'finalized' | number;

/**
 * Base, as far as payments look at it. Never throws. Concurrency: `readiness` of callers that wait together is one
 * question to the node; all others share a request where they are made in one turn of the loop.
 */
export interface BaseChain {
  /** Which chain the node is on (EIP-155). */
  chainId(): Promise<Reached<number>>;
  readiness(authorization: AuthorizationName): Promise<Reached<Readiness>>;
  holdings(payer: Hex, nonces: readonly Hex[]): Promise<Reached<Holdings>>;
  /**
   * Calls made one after another as if that address sent them, with a contract wallet's gas and at those fees, and undone:
   * what the last returned, or null where it failed. Travels alone: what a wallet's code makes of it keeps no other
   * question waiting.
   */
  simulate(calls: readonly Call[], from: Hex, fees?: CallFees): Promise<Reached<Hex | null>>;
  /** `authorizationState` as of that block: a node that lags behind it cannot answer, and so cannot mislead. */
  used(authorization: AuthorizationName, block_number: number): Promise<Reached<boolean>>;
  /** Each for itself, in the order asked: null where it is not mined. One that cannot be had hides none of the others. */
  receipts(hashes: readonly Hex[]): Promise<readonly Reached<ChainReceipt | null>[]>;
  /** What a transaction was sent to do; null where the node does not know it. */
  calldata(hash: Hex): Promise<Reached<Hex | null>>;
  /** Null where the chain has no such block (yet). */
  block(tag: BlockTag): Promise<Reached<ChainBlock | null>>;
  authorizationUse(authorization: AuthorizationName, from_block: number): Promise<Reached<AuthorizationUse>>;
  /** Every USDC Transfer to that wallet (from that payer alone, where one is named), in the order of the chain. */
  transfersTo(wallet: Hex, from_block: number, payer?: Hex): Promise<Reached<readonly Transfer[]>>;
  broadcast(raw: Hex): Promise<Reached<Broadcast>>;
  market(addresses: readonly Hex[]): Promise<Reached<Market>>;
  transactionCount(address: Hex, tag: 'latest' | 'pending'): Promise<Reached<number>>;
  code(address: Hex): Promise<Reached<Hex>>;
  close(): Promise<void>;
}
