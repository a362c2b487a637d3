import type { Json } from '../../../schema/canonical-json.ts';
import type { ChainAnswer } from '../rpc.ts';

/** Maximum number of signatures in one list that a node returns. */
export const SIGNATURES_MAX = 1_000;

/** A node's record of a blockhash. */
export interface BlockhashLook {
  readonly valid: boolean;
  /** Slot at which the node responded. */
  readonly slot: number;
  /** Last valid block height of the newest blockhash at that time. An older blockhash is not valid for longer. */
  readonly last_valid_block_height: number;
}

/** A USDC account. */
export interface TokenHolding {
  readonly owner: string;
  readonly amount_atomic: bigint;
  /** Whether Circle has frozen the account. It can then neither pay nor be paid. */
  readonly frozen: boolean;
}

export interface AtSlot<T> {
  /** The newest slot that the responding node had seen. */
  readonly slot: number;
  readonly value: T;
}

/** A transaction in a block that is final, or confirmed by two thirds of the stake. */
export interface LandedStatus {
  readonly signature: string;
  readonly slot: number;
  readonly final: boolean;
  /** The transaction's error; null if it succeeded. */
  readonly err: Json;
}

export interface LandedTransaction {
  readonly slot: number;
  /** Bytes of the transaction as sent on the wire. */
  readonly raw: Buffer;
  readonly err: Json;
  readonly before: readonly TokenBalance[];
  readonly after: readonly TokenBalance[];
  /** Inner instructions by the index of their outer one; null if the node did not record them. */
  readonly inner: readonly InnerInstructions[] | null;
  /** Accounts from look-up tables. Indexes in instructions continue with them after the message's own accounts. */
  readonly loaded: readonly string[];
}

export interface InnerInstructions {
  /** Index of the instruction in the message. */
  readonly index: number;
  /** Instructions in the order in which they ran, including nested ones. */
  readonly instructions: readonly CompiledInstruction[];
}

export interface CompiledInstruction {
  readonly program_index: number;
  readonly account_indexes: readonly number[];
  readonly data: Uint8Array;
}

export interface TokenBalance {
  /** Index of the account among the transaction's accounts. */
  readonly account_index: number;
  readonly mint: string;
  readonly owner: string | null;
  readonly amount_atomic: bigint;
}

export type SimulationOutcome = { readonly kind: 'passes' } | { readonly kind: 'fails'; readonly err: Json };

/** A node's response to a transaction. If it refused the transaction, other nodes may still have accepted the same bytes. */
export type SvmBroadcast = { readonly kind: 'taken' } | { readonly kind: 'turned_down'; readonly message: string };

/**
 * Queries about Solana that payments need. Never throws. Nodes behind one URL may lag behind each other, so results that are
 * compared include their slot.
 */
export interface SolanaChain {
  genesisHash(): Promise<ChainAnswer<string>>;
  blockhash(blockhash: string): Promise<ChainAnswer<BlockhashLook>>;
  /** The USDC account at that address; null if it does not exist or is not a USDC account. */
  holding(account: string): Promise<ChainAnswer<AtSlot<TokenHolding | null>>>;
  /** Simulates a transaction with its own blockhash. Signatures are not checked. */
  simulate(transaction: string): Promise<ChainAnswer<SimulationOutcome>>;
  /** The newest final block. */
  finalized(): Promise<ChainAnswer<{ readonly slot: number; readonly block_height: number }>>;
  /** The first slot whose blocks the node still keeps. Its other results say nothing about older slots. */
  oldest(): Promise<ChainAnswer<number>>;
  /**
   * One result for each signature, of any age, in the given order; null if the transaction is in no confirmed block. A transaction
   * that the node executed but has not seen confirmed may still be included: the node then counts as not having seen its slot yet.
   */
  statuses(signatures: readonly string[]): Promise<ChainAnswer<AtSlot<readonly (LandedStatus | null)[]>>>;
  transaction(signature: string): Promise<ChainAnswer<LandedTransaction | null>>;
  /** Transactions that touch an account, newest first, from a node that has seen `min_slot`. */
  signaturesOf(
    account: string,
    min_slot: number,
  ): Promise<ChainAnswer<readonly Pick<LandedStatus, 'signature' | 'slot'>[]>>;
  broadcast(transaction: string): Promise<ChainAnswer<SvmBroadcast>>;
  close(): Promise<void>;
}
