import type { AtomicAmount } from '../schema/amount.ts';
import type { ForeignNetwork, ObservedTransfer } from '../schema/observed-transfer.ts';

/** A transfer as somebody names it who has not been believed yet. All of it is well-formed for its network. */
export interface NamedTransfer {
  readonly network: ForeignNetwork;
  readonly transaction: string;
  /** Which of its transaction; null where they do not say, and there must be one alone that is meant. */
  readonly index: number | null;
  /** Null where they do not say: then it is found out. */
  readonly payer: string | null;
  readonly pay_to: string;
  readonly amount_atomic: AtomicAmount;
}

/** Where on its chain a transfer was seen, so that it can be looked at again. */
export interface SeenIn {
  /** Block number on Base, slot on Solana; null on Nano, where a cemented block stays. */
  readonly block_number: number | null;
  /** Null where the chain names none. */
  readonly block_hash: string | null;
  /** No other block can take its place any more. */
  readonly final: boolean;
}

/** Why a transfer is not believed. The chain was asked, and says otherwise. */
export type NotBelieved =
  /** The chain has no such transaction, or not deep enough yet. */
  | 'not_found'
  | 'not_confirmed'
  /** It failed: nothing moved. */
  | 'reverted'
  /** Nothing in it moves the rail's asset from that payer to that payee at that amount. */
  | 'no_such_transfer'
  /** Several of it do: `index` has to say which. */
  | 'ambiguous'
  /** Nano: hash, signature or work of the block are not those of what it says. */
  | 'forged_block';

export type Observation =
  | { readonly kind: 'observed'; readonly transfer: ObservedTransfer; readonly seen_in: SeenIn }
  /** `transfer_indexes`: of those that would do, where several would. */
  | { readonly kind: 'not_believed'; readonly reason: NotBelieved; readonly transfer_indexes?: readonly number[] }
  /** The chain cannot be asked now, or its node contradicts itself: nothing is known. */
  | { readonly kind: 'unknown'; readonly cause?: unknown }
  /** Nobody is configured who could be asked. */
  | { readonly kind: 'unsupported' };

/** What became of a transfer that was seen once. */
export type TransferStanding =
  | { readonly kind: 'final' }
  | { readonly kind: 'pending'; readonly seen_in: SeenIn }
  /** The final chain does not have it. */
  | { readonly kind: 'vanished' }
  | { readonly kind: 'unknown' };

/**
 * Chains as witnesses of payments that were made to somebody else. Never throws. A node is not trusted: what does not
 * follow from what it shows is not believed, and what has another shape than it should is no answer.
 */
export interface ForeignTransfers {
  observe(named: NamedTransfer): Promise<Observation>;
  /** Whether a text was signed by that payer of that network, as its wallets sign texts; `asker`: in whose line a contract wallet is asked. */
  signed(
    text: string,
    by: {
      readonly network: ForeignNetwork;
      readonly payer: string;
      readonly signature: string;
      readonly asker: string;
    },
  ): Promise<'valid' | 'invalid' | 'unreachable' | 'no_turn'>;
  standing(transfer: ObservedTransfer, seen_in: SeenIn): Promise<TransferStanding>;
}
