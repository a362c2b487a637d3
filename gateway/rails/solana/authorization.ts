import type { AtomicAmount } from '../../../schema/amount.ts';
import { networks } from '../../../schema/network.ts';

/**
 * A USDC transfer that its payer has signed and its fee payer has not, so nobody can submit it yet. Once both have signed, the
 * chain takes it once, while it knows the blockhash. Addresses are case-sensitive base58.
 */
export interface SolanaAuthorization {
  readonly network: 'solana';
  /** The owner or delegate that has authority over the transfer. */
  readonly payer: string;
  readonly pay_to: string;
  readonly amount_atomic: AtomicAmount;
  /** SHA-256 of the signed message, as lower-case hex: it identifies the payment, whatever signatures precede it. */
  readonly message_hash: string;
  readonly blockhash: string;
  readonly fee_payer: string;
  /** No block above this height takes it. It is the newest height known when it was checked, so possibly a little late. */
  readonly last_valid_block_height: number;
  /** Approximate time of that height: the height decides, this says when to ask. */
  readonly valid_before_seconds: number;
}

/** The payer's half: the wire transaction, without the fee payer's signature. */
export interface PartialSignature {
  readonly kind: 'partial';
  /** Base64. */
  readonly transaction: string;
}

export interface SolanaPayment {
  readonly authorization: SolanaAuthorization;
  readonly signature: PartialSignature;
}

const { caip2, usdc } = networks.solana;

/** Identifies the payment. */
export function solanaClaimKey({ message_hash }: Pick<SolanaAuthorization, 'message_hash'>): string {
  return `${caip2}/${usdc}/${message_hash}`;
}
