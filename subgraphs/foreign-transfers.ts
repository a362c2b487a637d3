import type { AtomicAmount } from '../schema/amount.ts';
import type { ForeignNetwork, ObservedTransfer } from '../schema/observed-transfer.ts';

/** A transfer that a caller names. Its members have the format of its network, but nothing is verified yet. */
export interface NamedTransfer {
  readonly network: ForeignNetwork;
  readonly transaction: string;
  /** Index of the transfer within its transaction. Null if the caller does not name it; exactly one transfer must then match. */
  readonly index: number | null;
  /** Null if the caller does not name the payer, who is then read from the chain. */
  readonly payer: string | null;
  readonly pay_to: string;
  readonly amount_atomic: AtomicAmount;
}

/** Position of a transfer on its chain, so that the transfer can be checked again. */
export interface ChainPosition {
  /** Block number on Base, slot on Solana. Null on Nano, where a cemented block is final. */
  readonly block_number: number | null;
  /** Hash of the block. Null if the chain does not supply one. */
  readonly block_hash: string | null;
  /** Whether the block can no longer be replaced by another. */
  readonly final: boolean;
}

/** Reason why a transfer is not accepted: the chain contradicts it. */
export type TransferFault =
  /** The chain has no such transaction (`not_found`), or has not confirmed it yet (`not_confirmed`). */
  | 'not_found'
  | 'not_confirmed'
  /** The transaction failed, so nothing was transferred. */
  | 'reverted'
  /** The transaction has no transfer of the rail's asset with that payer, payee and amount. */
  | 'no_such_transfer'
  /** The transaction has several such transfers, so `index` must say which. */
  | 'ambiguous'
  /** Nano: hash, signature or work of the block do not match its content. */
  | 'forged_block';

export type Observation =
  | { readonly kind: 'observed'; readonly transfer: ObservedTransfer; readonly seen_in: ChainPosition }
  /** `transfer_indexes`: indexes of the matching transfers, if there are several. */
  | { readonly kind: 'not_believed'; readonly reason: TransferFault; readonly transfer_indexes?: readonly number[] }
  /** The chain cannot be read now, or its node contradicts itself: the result is unknown. */
  | { readonly kind: 'unknown'; readonly cause?: unknown }
  /** No node is configured for the network. */
  | { readonly kind: 'unsupported' };

/** Current state of a transfer that was seen before. */
export type TransferStanding =
  | { readonly kind: 'final' }
  | { readonly kind: 'pending'; readonly seen_in: ChainPosition }
  /** The transfer is not in the final chain. */
  | { readonly kind: 'vanished' }
  | { readonly kind: 'unknown' };

/**
 * Reads payments to other parties from their chains. Never throws. Nodes are not trusted: a transfer that does not follow from the data of
 * the node is rejected, and a malformed response counts as no response.
 */
export interface ForeignTransfers {
  observe(named: NamedTransfer): Promise<Observation>;
  /**
   * Checks whether the payer signed a text, in the format in which wallets of the network sign texts. `asker`: name of the queue in which a
   * call of a contract wallet waits.
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
  standing(transfer: ObservedTransfer, seen_in: ChainPosition): Promise<TransferStanding>;
}
