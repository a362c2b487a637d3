import { z } from 'zod';
import type { ChainAnswer, NodeRefusal } from '../rpc.ts';
import type { Hex } from './abi.ts';

/** USDC that moved, as its Transfer event has it. */
export interface Transfer {
  readonly from: Hex;
  readonly to: Hex;
  readonly amount_atomic: bigint;
  readonly tx_hash: Hex;
  /** Log index inside its block. */
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
  /** A contract, or an account that has delegated to one (EIP-7702): USDC asks its code whether the signature is good. */
  readonly has_code: boolean;
  /** By Circle: it can neither pay nor be paid. */
  readonly blacklisted: boolean;
}

/** A payer at one moment of the chain. */
export interface PayerHoldings {
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
  chainId(): Promise<ChainAnswer<number>>;
  readiness(authorization: AuthorizationName): Promise<ChainAnswer<PayerReadiness>>;
  holdings(payer: Hex, nonces: readonly Hex[]): Promise<ChainAnswer<PayerHoldings>>;
  /**
   * Calls made one after another as if that address sent them, with a contract wallet's gas and at those fees, and undone:
   * what the last returned, or null where it failed. Travels alone: what a wallet's code makes of it keeps no other
   * question waiting.
   */
  simulate(calls: readonly ContractCall[], from: Hex, fees?: CallFees): Promise<ChainAnswer<Hex | null>>;
  /** `authorizationState` as of that block: a node that lags behind it cannot answer, and so cannot mislead. */
  used(authorization: AuthorizationName, block_number: number): Promise<ChainAnswer<boolean>>;
  /** Each for itself, in the order asked: null where it is not mined. One that cannot be had hides none of the others. */
  receipts(hashes: readonly Hex[]): Promise<readonly ChainAnswer<ChainReceipt | null>[]>;
  /** What a transaction was sent to do; null where the node does not know it. */
  calldata(hash: Hex): Promise<ChainAnswer<Hex | null>>;
  /** Null where the chain has no such block (yet). */
  block(tag: BlockTag): Promise<ChainAnswer<ChainBlock | null>>;
  authorizationUse(authorization: AuthorizationName, from_block: number): Promise<ChainAnswer<AuthorizationUse>>;
  /** Every USDC Transfer to that wallet (from that payer alone, where one is named), in the order of the chain. */
  transfersTo(wallet: Hex, from_block: number, payer?: Hex): Promise<ChainAnswer<readonly Transfer[]>>;
  /**
   * Every USDC Transfer from that wallet in these blocks, both ends included, in the order of the chain. Travels alone, and
   * few at once: no payment waits for what a report asks. `refused`: more than the node will search at once, or it is busy.
   */
  transfersFrom(
    wallet: Hex,
    from_block: number,
    to_block: number,
  ): Promise<ChainAnswer<readonly Transfer[]> | NodeRefusal>;
  /** The same into that wallet. */
  transfersInto: BaseChain['transfersFrom'];
  broadcast(raw: Hex): Promise<ChainAnswer<Broadcast>>;
  market(addresses: readonly Hex[]): Promise<ChainAnswer<Market>>;
  transactionCount(address: Hex, tag: 'latest' | 'pending'): Promise<ChainAnswer<number>>;
  code(address: Hex): Promise<ChainAnswer<Hex>>;
  close(): Promise<void>;
}

/** What a Base node answers, as far as it is read here. A node is not trusted: what has another shape is no answer. */
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
    /** Null where the node does not say. */
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
    /** On an OP-stack chain: for the transaction's data, beside its gas. */
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
    /** Null where the node does not say by what price. */
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
