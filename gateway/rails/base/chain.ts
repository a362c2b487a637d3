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

export interface ContractCall {
  readonly target: Hex;
  readonly callData: Hex;
}

/** State of the chain that decides whether a payment can be submitted. */
export interface PayerReadiness {
  readonly balance_atomic: bigint;
  /** Whether the authorization is used or cancelled. Then it can never move money. */
  readonly used: boolean;
  /**
   * Whether the payer is a contract, or an account that delegated to one (EIP-7702). USDC then calls its code to verify the
   * signature.
   */
  readonly has_code: boolean;
  /** Whether Circle has blacklisted the payer. It can then neither pay nor be paid. */
  readonly blacklisted: boolean;
}

/** A payer's balance and nonces at one block. */
export interface PayerHoldings {
  readonly balance_atomic: bigint;
  /** Whether each authorization is used or cancelled, in the given order. */
  readonly used: readonly boolean[];
}

export interface AuthorizationName {
  readonly payer: Hex;
  readonly nonce: Hex;
}

/**
 * How an authorization's nonce was used: in a transaction (by anyone), by the payer's cancellation, or in no log up to the head of
 * the node that responded.
 */
export type AuthorizationUse =
  | { readonly kind: 'used'; readonly tx_hash: Hex }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'unseen'; readonly searched_to: number };

/**
 * A node's response to a transaction. A transaction that was not `taken` may still be mined, because other nodes may relay it.
 */
export type Broadcast =
  | { readonly kind: 'taken' }
  | { readonly kind: 'nonce_too_low' }
  | { readonly kind: 'underpriced' }
  | { readonly kind: 'turned_down'; readonly message: string };

/** EIP-1559 fees per unit of gas. */
export interface CallFees {
  readonly max_fee_wei: bigint;
  readonly priority_fee_wei: bigint;
}

/** A round of the ETH/USD price feed. `absent` if the contract does not exist, as on a development chain. */
export type EthRound =
  | { readonly kind: 'round'; readonly answer: bigint; readonly updated_at_seconds: number }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable' };

/** State of the chain, read at one time, that the sending of a transaction depends on. */
export interface Market {
  readonly head: ChainBlock;
  readonly priority_fee_wei: bigint;
  readonly eth_round: EthRound;
  /** L1 fee of a transaction of `L1_FEE_BYTES` bytes; 0 on a chain without L1 fees. */
  readonly l1_fee_wei: bigint;
  readonly keys: readonly { readonly address: Hex; readonly nonce_pending: number; readonly balance_wei: bigint }[];
}

export type BlockTag = 'latest' | 'finalized' | number;

/**
 * Queries about Base that payments need. They never throw. Concurrency: `readiness` calls that wait together share one request;
 * other calls share one if they are made in the same turn of the event loop.
 */
export interface BaseChain {
  /** Chain id of the node (EIP-155). */
  chainId(): Promise<ChainAnswer<number>>;
  readiness(authorization: AuthorizationName): Promise<ChainAnswer<PayerReadiness>>;
  holdings(payer: Hex, nonces: readonly Hex[]): Promise<ChainAnswer<PayerHoldings>>;
  /**
   * Simulates calls one after another, sent from that address with a contract wallet's gas and these fees. Returns the result of
   * the last call, or null if it failed. Each simulation is a separate request, because a wallet's code could delay others.
   */
  simulate(calls: readonly ContractCall[], from: Hex, fees?: CallFees): Promise<ChainAnswer<Hex | null>>;
  /**
   * `authorizationState` at that block. A node that lags behind does not have the block, so it cannot return an outdated state.
   */
  isUsed(authorization: AuthorizationName, block_number: number): Promise<ChainAnswer<boolean>>;
  /** One result for each hash, in the given order; null if the transaction is not mined. A failure affects only its own hash. */
  receipts(hashes: readonly Hex[]): Promise<readonly ChainAnswer<ChainReceipt | null>[]>;
  /** Calldata of a transaction; null if the node does not have the transaction. */
  calldata(hash: Hex): Promise<ChainAnswer<Hex | null>>;
  /** A block without its transactions; null if the chain does not have it (yet). */
  block(tag: BlockTag): Promise<ChainAnswer<ChainBlock | null>>;
  authorizationUse(authorization: AuthorizationName, from_block: number): Promise<ChainAnswer<AuthorizationUse>>;
  /** Every USDC Transfer to that wallet since that block, in the order of the chain; only those from `payer` if it is given. */
  transfersTo(wallet: Hex, from_block: number, payer?: Hex): Promise<ChainAnswer<readonly Transfer[]>>;
  /**
   * Every USDC Transfer from that wallet in these blocks, both included, in the order of the chain. Each search is a separate
   * request and few run at once, so that reports delay no payment. `refused` if the range is too large for one search or the node
   * is busy.
   */
  transfersFrom(
    wallet: Hex,
    from_block: number,
    to_block: number,
  ): Promise<ChainAnswer<readonly Transfer[]> | NodeRefusal>;
  /** Like `transfersFrom`, for transfers to that wallet. */
  transfersInto: BaseChain['transfersFrom'];
  broadcast(raw: Hex): Promise<ChainAnswer<Broadcast>>;
  market(addresses: readonly Hex[]): Promise<ChainAnswer<Market>>;
  transactionCount(address: Hex, tag: 'latest' | 'pending'): Promise<ChainAnswer<number>>;
  code(address: Hex): Promise<ChainAnswer<Hex>>;
  close(): Promise<void>;
}

/**
 * Schemas of the members that are read from a Base node's responses. A node is not trusted: a response of another shape counts as
 * no response.
 */
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
    /** Null if the node does not return it. */
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
    /** Fee for the transaction's data on OP-stack chains, charged in addition to its gas. */
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
    /** Null if the node does not return the price of gas. */
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
