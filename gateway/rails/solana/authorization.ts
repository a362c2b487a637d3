import type { AtomicAmount } from '../../../schema/amount.ts';
import { networks } from '../../../schema/network.ts';

/**
 * A USDC transfer that its payer has signed and whose fees its fee payer has not: nobody can submit it before that one
 * signs too, and then the chain takes it once, while its blockhash is known there. Addresses are base58, as the chain
 * spells them: their case is part of them.
 */
export interface SolanaAuthorization {
  readonly network: 'solana';
  /** Whoever has authority over the transfer. */
  readonly payer: string;
  readonly pay_to: string;
  readonly amount_atomic: AtomicAmount;
  /** SHA-256 of what was signed, as lower-case hex: it names the payment, whatever signatures stand before it. */
  readonly message_hash: string;
  readonly blockhash: string;
  readonly fee_payer: string;
  /** No block above this height takes it. The newest that was known when it was looked at, so it may be somewhat late. */
  readonly last_valid_block_height: number;
  /** About when that is: the block height decides, and this says when it is worth asking. */
  readonly valid_before_seconds: number;
}

/** The payer's half: a transaction as it goes over the wire, in which the fee payer's signature is still missing. */
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

/** Names the money itself. */
export function solanaClaimKey({ message_hash }: Pick<SolanaAuthorization, 'message_hash'>): string {
  return `${caip2}/${usdc}/${message_hash}`;
}
