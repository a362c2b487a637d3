import type { SentTransfer } from '../../../schema/reconciliation-rule.ts';

/** Both ends of a range of blocks. */
export type RangeEnds =
  | {
      readonly kind: 'found';
      readonly from_hash: string;
      readonly to_hash: string;
      /** True if the last block is final. */
      readonly final: boolean;
    }
  /** The chain does not have the block (yet). */
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreachable' };

export type SentPage =
  | { readonly kind: 'read'; readonly transfers: readonly SentTransfer[] }
  /** The node refuses to search this many blocks. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'unreachable' };

/**
 * Reads USDC transfers of a wallet from Base. Never throws. The node is not trusted: unrequested results are dropped, and
 * contradictory ones count as no response.
 */
export interface SentTransfers {
  ends(from_block: number, to_block: number): Promise<RangeEnds>;
  /** In the order of the chain, both ends included. */
  transfersOf(wallet: string, from_block: number, to_block: number): Promise<SentPage>;
}
