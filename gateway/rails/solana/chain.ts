import type { Json } from '../../../schema/canonical-json.ts';
import type { ChainAnswer } from '../rpc.ts';

/** Of one list of them. */
export const SIGNATURES_MAX = 1_000;

/** What a node knows of a blockhash. */
export interface BlockhashLook {
  readonly valid: boolean;
  /** As of that slot. */
  readonly slot: number;
  /** Of the newest blockhash that there was then: no older one is good for longer. */
  readonly last_valid_block_height: number;
}

/** A USDC account. */
export interface TokenHolding {
  readonly owner: string;
  readonly amount_atomic: bigint;
  /** By Circle: it can neither pay nor be paid. */
  readonly frozen: boolean;
}

export interface AtSlot<T> {
  /** The newest slot that the node which answered had seen. */
  readonly slot: number;
  readonly value: T;
}

/** A transaction in a block; which is final, or confirmed by two thirds of the stake. */
export interface LandedStatus {
  readonly signature: string;
  readonly slot: number;
  readonly final: boolean;
  /** Why it failed there; null where it did what it says. */
  readonly err: Json;
}

export interface LandedTransaction {
  readonly slot: number;
  /** As it went over the wire. */
  readonly raw: Buffer;
  readonly err: Json;
  readonly before: readonly TokenBalance[];
  readonly after: readonly TokenBalance[];
  /** What its instructions called in turn, by their places; null where the node did not write it down. */
  readonly inner: readonly InnerInstructions[] | null;
  /** Accounts beyond its message's own, from look-up tables: instructions count on with them. */
  readonly loaded: readonly string[];
}

export interface InnerInstructions {
  /** Of the instruction in the message. */
  readonly index: number;
  /** In the order in which they ran, those of inner ones too. */
  readonly instructions: readonly CompiledInstruction[];
}

export interface CompiledInstruction {
  readonly program_index: number;
  readonly account_indexes: readonly number[];
  readonly data: Uint8Array;
}

export interface TokenBalance {
  /** Among the accounts of its transaction. */
  readonly account_index: number;
  readonly mint: string;
  readonly owner: string | null;
  readonly amount_atomic: bigint;
}

export type SimulationOutcome = { readonly kind: 'passes' } | { readonly kind: 'fails'; readonly err: Json };

/** What a node said to a transaction. Of one that it turned down others may still have taken the same bytes. */
export type SvmBroadcast = { readonly kind: 'taken' } | { readonly kind: 'turned_down'; readonly message: string };

/**
 * Solana, as far as payments look at it. Never throws. Nodes behind one URL may lag behind each other: what is compared
 * with another answer names the slot that it was given at.
 */
export interface SolanaChain {
  genesisHash(): Promise<ChainAnswer<string>>;
  blockhash(blockhash: string): Promise<ChainAnswer<BlockhashLook>>;
  /** Null where there is no such account, or it is none of USDC's. */
  holding(account: string): Promise<ChainAnswer<AtSlot<TokenHolding | null>>>;
  /** Run and undone, with its own blockhash; signatures are not looked at. */
  simulate(transaction: string): Promise<ChainAnswer<SimulationOutcome>>;
  /** The newest final block. */
  finalized(): Promise<ChainAnswer<{ readonly slot: number; readonly block_height: number }>>;
  /** The first slot of which the node still keeps what stood in it: of what is older it says nothing. */
  oldest(): Promise<ChainAnswer<number>>;
  /**
   * Each of them, however long ago, in the order asked: null where it is in no block that is confirmed. One that the node
   * has executed and not seen confirmed is no less there for that: its slot has not been seen yet.
   */
  statuses(signatures: readonly string[]): Promise<ChainAnswer<AtSlot<readonly (LandedStatus | null)[]>>>;
  transaction(signature: string): Promise<ChainAnswer<LandedTransaction | null>>;
  /** Those that touch an account, newest first, by a node that has seen `min_slot`. */
  signaturesOf(
    account: string,
    min_slot: number,
  ): Promise<ChainAnswer<readonly Pick<LandedStatus, 'signature' | 'slot'>[]>>;
  broadcast(transaction: string): Promise<ChainAnswer<SvmBroadcast>>;
  close(): Promise<void>;
}
