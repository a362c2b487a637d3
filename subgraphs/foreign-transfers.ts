import type { AtomicAmount } from '../schema/amount.ts';
import type { ForeignNetwork, ObservedTransfer } from '../schema/observed-transfer.ts';

/** A transfer as a caller names it, not verified yet. All of it is well-formed for its network. */
export interface NamedTransfer {
  readonly network: ForeignNetwork;
  readonly transaction: string;
  /** Index within its transaction. Null if not named; then exactly one transfer must match. */
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

/** Reason why a transfer is not accepted: the chain contradicts it. */
export type TransferFault =
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
  | { readonly kind: 'not_believed'; readonly reason: TransferFault; readonly transfer_indexes?: readonly number[] }
  /** The chain cannot be read now, or its node contradicts itself: the result is unknown. */
  | { readonly kind: 'unknown'; readonly cause?: unknown }
  /** No node is configured for the network. */
  | { readonly kind: 'unsupported' };

/** What became of a transfer that was seen once. */
export type TransferStanding =
  | { readonly kind: 'final' }
  | { readonly kind: 'pending'; readonly seen_in: SeenIn }
  /** The final chain does not have it. */
  | { readonly kind: 'vanished' }
  | { readonly kind: 'unknown' };

/**
 * Chains as witnesses of payments to other parties. Never throws. Nodes are not trusted: what does not follow from
 * their data is not believed, and a malformed response counts as none.
 */
export interface ForeignTransfers {
  observe(named: NamedTransfer): Promise<Observation>;
  /**
   * Whether that payer signed a text, as wallets of the network sign texts. `asker`: the queue in which a contract
   * wallet is called.
   */
  verifySigner(
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
