import type { Unreachable } from './rpc.ts';

/** The money moved as authorized: the Transfer was seen in a mined transaction. */
export interface Transferred {
  readonly kind: 'transferred';
  readonly tx_hash: string;
  readonly block_number: number;
  readonly block_hash: string;
  /** Log index of the Transfer within its block: one transaction may contain many payments. */
  readonly transfer_index: number;
  /** Any holder of the authorization may submit it; the payer has paid in any case. */
  readonly by: 'us' | 'third_party';
}

/**
 * The chain shows that this payment did not move. Until it expires someone else may still submit it, except if its nonce is used:
 * `cancelled`, or `used_otherwise` by another authorization with the same nonce.
 */
export interface NotTransferred {
  readonly kind: 'not_transferred';
  readonly reason: 'reverted' | 'cancelled' | 'expired' | 'used_otherwise';
}

/** It may have moved or may yet: ask the chain again, and never ask the payer for another signature. */
export interface Unknown {
  readonly kind: 'unknown';
  readonly reason: 'not_mined' | 'chain_unavailable' | 'chain_inconsistent' | 'journal_failed' | 'stopped';
  /** Transaction that a facilitator named; nothing is known of it here. */
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

/** A facilitator reports that it moved in that transaction, which the chain did not show in time. */
export interface Vouched {
  readonly kind: 'vouched';
  readonly tx_hash: string;
}

/** A facilitator refuses to settle it, with x402's reason, and the chain shows it unused. */
export interface Declined {
  readonly kind: 'declined';
  readonly reason: string;
}

/** What a payment can be recorded on: an observed transfer, or a facilitator's report. */
export type RecordableOutcome = Transferred | Vouched;

/** The chain's answer. */
export type Decision = Transferred | NotTransferred | Unknown;
export type SettleOutcome = Decision | NotSent | Vouched | Declined;

/** It will not be accepted as it is. */
export interface Rejected {
  readonly kind: 'rejected';
  /** x402's reason, if it has one. */
  readonly reason: string;
}

/** For a payer whose payment passed its simulation and then reverted or ran out of gas, at our cost. */
export const REVERTED_LATELY: Rejected = { kind: 'rejected', reason: 'payer_reverted_lately' };

/** It is used, or may be, and it is unknown by whom: the money may be here. */
export interface Undecided {
  readonly kind: 'undecided';
  readonly cause?: unknown;
}

/** No turn to search the chain came in time, so nothing is known of it. */
export interface Busy {
  readonly kind: 'busy';
}

/** Whether a payment is its payer's, if its signature alone does not prove it. */
export type Proof =
  | { readonly kind: 'proven' }
  | Rejected
  /** Too many such payments are waiting. */
  | { readonly kind: 'no_turn'; readonly retry_after_seconds: number }
  | Unreachable;

export const PROVEN: Extract<Proof, { kind: 'proven' }> = { kind: 'proven' };

export const notSent = (reason: NotSent['reason']): NotSent => ({ kind: 'not_sent', reason });
export const unknown = (reason: Unknown['reason']): Unknown => ({ kind: 'unknown', reason });
