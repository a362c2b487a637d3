import type { SentTransfer } from '../../../schema/reconciliation-rule.ts';

/** Both ends of a range of blocks. */
export type RangeEnds =
  | {
      readonly kind: 'found';
      readonly from_hash: string;
      readonly to_hash: string;
      /** No other block can take the place of the last any more. */
      readonly final: boolean;
    }
  /** The chain has no such block, or not yet. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreachable' };

export type SentPage =
  | { readonly kind: 'read'; readonly transfers: readonly SentTransfer[] }
  /** The node will not search so many blocks at once. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'unreachable' };

/**
 * Base as a witness of what a wallet sent in USDC. Never throws. A node is not trusted: what was not asked for is left out,
 * and what contradicts itself is no answer.
 */
export interface SentTransfers {
  ends(from_block: number, to_block: number): Promise<RangeEnds>;
  /** In the chain's order, both ends included. */
  sent(wallet: string, from_block: number, to_block: number): Promise<SentPage>;
}
