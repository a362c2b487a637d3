import type { AtomicAmount } from '../../../schema/amount.ts';
import { networks } from '../../../schema/network.ts';

/**
 * A USDC transfer that its payer has signed and its fee payer has not, so that it cannot be submitted yet. Once both have signed,
 * the chain accepts it once, while its blockhash is valid. Addresses are case-sensitive base58.
 */
export interface SolanaAuthorization {
  readonly network: 'solana';
  /** The owner or delegate with authority over the transfer. */
  readonly payer: string;
  readonly pay_to: string;
  readonly amount_atomic: AtomicAmount;
  /** SHA-256 of the signed message, as lower-case hex. It identifies the payment, whatever signatures precede the message. */
  readonly message_hash: string;
  readonly blockhash: string;
  readonly fee_payer: string;
  /**
   * No block above this height accepts the payment. It was calculated from the newest height known when the payment was checked, so
   * it may be a little too high.
   */
  readonly last_valid_block_height: number;
  /** Approximate time of that height, in unix seconds. Only the height decides; the time shows when to query the chain. */
  readonly valid_before_seconds: number;
}

/** The wire transaction with the payer's signature, without the fee payer's. */
export interface PartialSignature {
  readonly kind: 'partial';
  /** The wire transaction as base64. */
  readonly transaction: string;
}

export interface SolanaPayment {
  readonly authorization: SolanaAuthorization;
  readonly signature: PartialSignature;
}

const { caip2, usdc } = networks.solana;

/** Key that identifies the payment. */
export function solanaClaimKey({ message_hash }: Pick<SolanaAuthorization, 'message_hash'>): string {
  return `${caip2}/${usdc}/${message_hash}`;
}
