import { z } from 'zod';
import type { ChainAnswer, NodeRefusal } from '../rpc.ts';
import type { Hex } from './abi.ts';

/** A USDC Transfer event. */
export interface Transfer {
  readonly from: Hex;
  readonly to: Hex;
  readonly amount_atomic: bigint;
  readonly tx_hash: Hex;
  /** Log index within its block. */
  readonly log_index: number;
  readonly block_number: number;
}

/** A call to a contract. */
export interface ContractCall {
  readonly target: Hex;
  readonly callData: Hex;
}

/** What the chain says of a payment before it is submitted. */
export interface PayerReadiness {
  readonly balance_atomic: bigint;
  /** Used or cancelled: it can never move money any more. */
  readonly used: boolean;
  /** A contract, or an account that delegated to one (EIP-7702): USDC asks its code whether the signature is valid. */
  readonly has_code: boolean;
  /** Blacklisted by Circle: it can neither pay nor be paid. */
  readonly blacklisted: boolean;
}

/** A payer's balance and nonces at one block. */
export interface PayerHoldings {
  readonly balance_atomic: bigint;
  /** For each authorization, in the given order: whether it is used or cancelled. */
  readonly used: readonly boolean[];
}

export interface AuthorizationName {
  readonly payer: Hex;
  readonly nonce: Hex;
}

/**
 * How an authorization's nonce was used: in a transaction (by anyone), by the payer's cancellation, or in no log up to the head
 * of the responding node.
 */
export type AuthorizationUse =
  | { readonly kind: 'used'; readonly tx_hash: Hex }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'unseen'; readonly searched_to: number };

/** A node's response to a transaction. Except for `taken`, it may still be mined, because others relay it. */
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

/** A round of the price feed; `absent`: there is no such contract, as on a development chain. */
export type EthRound =
  | { readonly kind: 'round'; readonly answer: bigint; readonly updated_at_seconds: number }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable' };

/** All that sending a transaction depends on, at one time. */
export interface Market {
  readonly head: ChainBlock;
  readonly priority_fee_wei: bigint;
  readonly eth_round: EthRound;
  /** L1 fee of the first `L1_FEE_BYTES` of a transaction; 0 on a chain without one. */
  readonly l1_fee_wei: bigint;
  readonly keys: readonly { readonly address: Hex; readonly nonce_pending: number; readonly balance_wei: bigint }[];
}

export type BlockTag = 'latest' | 'finalized' | number;

/**
 * The queries about Base that payments need. Never throws. Concurrency: `readiness` calls that wait together share one request;
 * others share one if they are made in the same turn of the loop.
 */
export interface BaseChain {
  /** Chain id of the node (EIP-155). */
  chainId(): Promise<ChainAnswer<number>>;
  readiness(authorization: AuthorizationName): Promise<ChainAnswer<PayerReadiness>>;
  holdings(payer: Hex, nonces: readonly Hex[]): Promise<ChainAnswer<PayerHoldings>>;
  /**
   * Runs calls one after another as if that address sent them, with a contract wallet's gas and these fees, without effect: what
   * the last one returned, or null if it failed. Sent as a separate request, because a wallet's code could delay others.
   */
  simulate(calls: readonly ContractCall[], from: Hex, fees?: CallFees): Promise<ChainAnswer<Hex | null>>;
  /** `authorizationState` at that block, which a lagging node does not have, so it cannot mislead. */
  isUsed(authorization: AuthorizationName, block_number: number): Promise<ChainAnswer<boolean>>;
  /** One result for each hash, in the given order: null if it is not mined. A failure affects no other. */
  receipts(hashes: readonly Hex[]): Promise<readonly ChainAnswer<ChainReceipt | null>[]>;
  /** Calldata of a transaction; null if the node does not know it. */
  calldata(hash: Hex): Promise<ChainAnswer<Hex | null>>;
  /** Null if the chain has no such block (yet). */
  block(tag: BlockTag): Promise<ChainAnswer<ChainBlock | null>>;
  authorizationUse(authorization: AuthorizationName, from_block: number): Promise<ChainAnswer<AuthorizationUse>>;
  /** Every USDC Transfer to that wallet (from that payer only, if given), in the order of the chain. */
  transfersTo(wallet: Hex, from_block: number, payer?: Hex): Promise<ChainAnswer<readonly Transfer[]>>;
  /**
   * Every USDC Transfer from that wallet in these blocks, both included, in the order of the chain. Sent separately and few at
   * once, so that reports delay no payment. `refused`: too much for one search, or the node is busy.
   */
  transfersFrom(
    wallet: Hex,
    from_block: number,
    to_block: number,
  ): Promise<ChainAnswer<readonly Transfer[]> | NodeRefusal>;
  /** The same for transfers to that wallet. */
  transfersInto: BaseChain['transfersFrom'];
  broadcast(raw: Hex): Promise<ChainAnswer<Broadcast>>;
  market(addresses: readonly Hex[]): Promise<ChainAnswer<Market>>;
  transactionCount(address: Hex, tag: 'latest' | 'pending'): Promise<ChainAnswer<number>>;
  code(address: Hex): Promise<ChainAnswer<Hex>>;
  close(): Promise<void>;
}

/** Responses of a Base node, as far as they are read. A node is not trusted: another shape is no response. */
export const hexData = z
  .string()
  .regex(/^0x[0-9a-fA-F]*$/)
  .transform(value => value.toLowerCase() as Hex);
export const quantity = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,64}$/)
  .transform(value => BigInt(value));
export const count = quantity.refine(value => value <= Number.MAX_SAFE_INTEGER).transform(Number);

export const logShape = z
  .object({
    address: hexData,
    topics: z.array(hexData),
    data: hexData,
    logIndex: count,
    transactionHash: hexData,
    blockNumber: count,
    blockHash: hexData.nullish(),
  })
  .transform(({ address, topics, data, logIndex, transactionHash, blockNumber, blockHash }) => ({
    address,
    topics,
    data,
    log_index: logIndex,
    tx_hash: transactionHash,
    block_number: blockNumber,
    /** Null if the node does not say. */
    block_hash: blockHash ?? null,
  }));
export type ChainLog = Readonly<z.infer<typeof logShape>>;

export const receiptShape = z
  .object({
    transactionHash: hexData,
    to: hexData.nullable().default(null),
    blockNumber: count,
    blockHash: hexData,
    status: z.enum(['0x0', '0x1']),
    gasUsed: count,
    effectiveGasPrice: quantity.nullish(),
    /** OP-stack chains: fee for the transaction's data, beside its gas. */
    l1Fee: quantity.nullish(),
    logs: z.array(logShape),
  })
  .transform(({ transactionHash, to, blockNumber, blockHash, status, gasUsed, effectiveGasPrice, l1Fee, logs }) => ({
    tx_hash: transactionHash,
    to,
    block_number: blockNumber,
    block_hash: blockHash,
    succeeded: status === '0x1',
    gas_used: gasUsed,
    /** Null if the node does not give the price. */
    fee_wei: effectiveGasPrice == null ? null : BigInt(gasUsed) * effectiveGasPrice + (l1Fee ?? 0n),
    logs,
  }));
export type ChainReceipt = Readonly<z.infer<typeof receiptShape>>;

export const blockShape = z
  .object({
    number: count,
    hash: hexData,
    timestamp: count,
    baseFeePerGas: quantity,
    stateRoot: hexData.optional(),
  })
  .transform(({ number, hash, timestamp, baseFeePerGas, stateRoot }) => ({
    number,
    hash,
    timestamp_seconds: timestamp,
    base_fee_wei: baseFeePerGas,
    ...(stateRoot === undefined ? {} : { state_root: stateRoot }),
  }));
export type ChainBlock = Readonly<z.infer<typeof blockShape>>;
