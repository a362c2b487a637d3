import type { Unreachable } from './rpc.ts';

/** The money moved as authorized: the Transfer was seen in a mined transaction. */
export interface Transferred {
  readonly kind: 'transferred';
  readonly tx_hash: string;
  readonly block_number: number;
  readonly block_hash: string;
  /** Log index of the Transfer within its block, because one transaction may contain many payments. */
  readonly transfer_index: number;
  /** Who submitted the authorization, which any holder can. The payer has paid in either case. */
  readonly by: 'us' | 'third_party';
}

/**
 * The chain shows that this payment did not move. Until it expires someone else may still submit it, unless its nonce is used:
 * `cancelled` by the payer, or `used_otherwise` by another authorization with the same nonce.
 */
export interface NotTransferred {
  readonly kind: 'not_transferred';
  readonly reason: 'reverted' | 'cancelled' | 'expired' | 'used_otherwise';
}

/** The payment may have moved or may move later. Query the chain again, and never ask the payer for another signature. */
export interface Unknown {
  readonly kind: 'unknown';
  readonly reason: 'not_mined' | 'chain_unavailable' | 'chain_inconsistent' | 'journal_failed' | 'stopped';
  /** Transaction that a facilitator named; this service has not seen it. */
  readonly tx_hash?: string | null;
}

/** No settlement was committed and no transaction was broadcast. */
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

/** A facilitator reports that the payment moved in that transaction, which the chain did not show in time. */
export interface Vouched {
  readonly kind: 'vouched';
  readonly tx_hash: string;
}

/** A facilitator refuses to settle the payment, with a reason of x402, and the chain shows it as unused. */
export interface Declined {
  readonly kind: 'declined';
  readonly reason: string;
}

/** An outcome because of which a payment can be recorded: an observed transfer, or a facilitator's report. */
export type RecordableOutcome = Transferred | Vouched;

/** The outcome of a payment by the chain alone. */
export type Decision = Transferred | NotTransferred | Unknown;
export type SettleOutcome = Decision | NotSent | Vouched | Declined;

/** The payment will not be accepted as it is. */
export interface Rejected {
  readonly kind: 'rejected';
  /** Reason code of x402, if x402 has one. */
  readonly reason: string;
}

/** Rejection of a payer whose earlier payment passed its simulation and then reverted or ran out of gas, at our cost. */
export const REVERTED_LATELY: Rejected = { kind: 'rejected', reason: 'payer_reverted_lately' };

/** The payment is used, or may be, and it is unknown who used it: the money may have arrived here. */
export interface Undecided {
  readonly kind: 'undecided';
  readonly cause?: unknown;
}

/** The search of the chain did not get a turn in time, so nothing is known of the payment. */
export interface Busy {
  readonly kind: 'busy';
}

/** Whether a payment was signed by its payer, if the signature alone does not prove it. */
export type Proof =
  | { readonly kind: 'proven' }
  | Rejected
  /** Too many such payments are waiting to be checked. */
  | { readonly kind: 'no_turn'; readonly retry_after_seconds: number }
  | Unreachable;

export const PROVEN: Extract<Proof, { kind: 'proven' }> = { kind: 'proven' };

export const notSent = (reason: NotSent['reason']): NotSent => ({ kind: 'not_sent', reason });
export const unknown = (reason: Unknown['reason']): Unknown => ({ kind: 'unknown', reason });
