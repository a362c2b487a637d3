import type { NetworkName } from './network.ts';
import { signedText } from './signed-words.ts';

/* What a payer signs to have a paid answer delivered again, and the header it comes in. */

/** Which payment a payer wants delivered again, by whom, and when he said so. */
export interface Redelivery {
  /** Of the service. */
  readonly base_url: string;
  readonly network: NetworkName;
  /** The EIP-3009 nonce, or the hash of the message on Solana. */
  readonly payment_id: string;
  /** Unix seconds. */
  readonly at_seconds: number;
}

/** Sent with the payment where it alone is not believed to come from its payer. */
export const REDELIVERY_HEADER = 'X-SVC-Redeliver';

/**
 * What the payer's wallet signs, as UTF-8: by `personal_sign` (EIP-191) or its own code (ERC-1271) on Base, by Ed25519 on
 * Solana. The header is `<unix seconds>:<signature>`, the signature in hex on Base and in base58 on Solana.
 */
export function redeliveryText({ base_url, network, payment_id, at_seconds }: Redelivery): string {
  return signedText('redeliver', base_url, { network, payment_id, unix_seconds: at_seconds });
}

export interface RedeliveryProof {
  readonly at_seconds: number;
  readonly signature: string;
}

/** Null where the header has another form. */
export function readRedelivery(header: string): RedeliveryProof | null {
  const [, at, signature] = header.match(/^(\d{1,12}):([0-9A-Za-z]+)$/) ?? [];
  return at && signature ? { at_seconds: Number(at), signature } : null;
}

/** Null where it is another text: then a wallet would sign what nobody has shown to its owner. */
export function readRedeliveryText(text: unknown): Redelivery | null {
  const [, base_url = '', network, payment_id = '', at] =
    String(text).match(
      /^svc\.redeliver\|(https?:\/\/[^|\s]{1,2000})\|(base|solana)\|([0-9A-Za-z]{1,100})\|(\d{1,12})$/,
    ) ?? [];
  return network ? { base_url, network: network as NetworkName, payment_id, at_seconds: Number(at) } : null;
}
