import type { SentTransfer } from '../../../schema/reconciliation-rule.ts';

/** Hashes of the first and the last block of a range. */
export type RangeEnds =
  | {
      readonly kind: 'found';
      readonly from_hash: string;
      readonly to_hash: string;
      /** True if the last block is final. */
      readonly final: boolean;
    }
  /** The chain does not have one of the blocks, or not yet. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreachable' };

export type SentPage =
  | { readonly kind: 'read'; readonly transfers: readonly SentTransfer[] }
  /** The node refuses to search this many blocks. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'unreachable' };

/**
 * Reads USDC transfers of a wallet from Base. Never throws. The node is not trusted: results that were not requested are dropped,
 * and contradictory results count as no response.
 */
export interface SentTransfers {
  ends(from_block: number, to_block: number): Promise<RangeEnds>;
  /** Transfers in the order of the chain. Both ends of the range are included. */
  transfersOf(wallet: string, from_block: number, to_block: number): Promise<SentPage>;
}
