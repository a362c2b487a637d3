import type { Unreachable } from './rpc.ts';

/** The money moved as authorized: the Transfer was seen in a mined transaction. */
export interface Transferred {
  readonly kind: 'transferred';
  readonly tx_hash: string;
  readonly block_number: number;
  readonly block_hash: string;
  /** Log index of the Transfer inside its block: one transaction may carry many payments. */
  readonly transfer_index: number;
  /** Whoever holds the authorization may submit it; the payer paid all the same. */
  readonly by: 'us' | 'third_party';
}

/**
 * The chain itself says that this payment did not move. Until it expires it still may, in other hands; not so where its
 * nonce is spent: `cancelled`, or `used_otherwise`, by another authorization that the payer signed with the same nonce.
 */
export interface NotTransferred {
  readonly kind: 'not_transferred';
  readonly reason: 'reverted' | 'cancelled' | 'expired' | 'used_otherwise';
}

/** It may have moved or may yet: ask the chain again, and never ask the payer to sign anew. */
export interface Unknown {
  readonly kind: 'unknown';
  readonly reason: 'not_mined' | 'chain_unavailable' | 'chain_inconsistent' | 'journal_failed' | 'stopped';
  /** In which a facilitator says that it may move; nothing is known of it here. */
  readonly tx_hash?: string | null;
}

/** Nothing was committed and nothing was broadcast. */
export interface NotSent {
  readonly kind: 'not_sent';
  readonly cause?: unknown;
  readonly reason:
    | 'chain_unavailable'
    | 'facilitator_unavailable'
    | 'fee_too_high'
    | 'price_unknown'
    | 'out_of_gas'
    | 'claim_lost'
    | 'journal_failed'
    | 'stopped';
}

/** A facilitator says that it moved, in that transaction, and the chain did not show it while it was waited for. */
export interface Vouched {
  readonly kind: 'vouched';
  readonly tx_hash: string;
}

/** A facilitator will not settle it, in x402's own word, and the chain shows it unused. */
export interface Declined {
  readonly kind: 'declined';
  readonly reason: string;
}

/** What a payment can be recorded on: a transfer that was seen, or a facilitator's word for it. */
export type Moved = Transferred | Vouched;

/** What the chain was asked and said. */
export type Decision = Transferred | NotTransferred | Unknown;
export type SettleOutcome = Decision | NotSent | Vouched | Declined;

/** It will not be taken as it is. */
export interface Rejected {
  readonly kind: 'rejected';
  /** x402's own word, where it has one. */
  readonly reason: string;
}

/** Of a payer whose payment passed its simulation and was reverted by the chain, or ran out on us: what it cost was ours. */
export const REVERTED_LATELY: Rejected = { kind: 'rejected', reason: 'payer_reverted_lately' };

/** It is used, or may be, and nobody can say now by whom or whether for us: the money may be here. */
export interface Undecided {
  readonly kind: 'undecided';
  readonly cause?: unknown;
}

/** No turn came in time to search the chain for it: nothing is known of it. */
export interface Busy {
  readonly kind: 'busy';
}

/** Whether a payment is its payer's, where its signature alone does not say so. */
export type Proof =
  | { readonly kind: 'proven' }
  | Rejected
  /** Too many such payments want to be proven. */
  | { readonly kind: 'no_turn'; readonly retry_after_seconds: number }
  | Unreachable;

export const PROVEN: Extract<Proof, { kind: 'proven' }> = { kind: 'proven' };

export const notSent = (reason: NotSent['reason']): NotSent => ({ kind: 'not_sent', reason });
export const unknown = (reason: Unknown['reason']): Unknown => ({ kind: 'unknown', reason });
