import type { NetworkName } from './network.ts';
import { signedText } from './signed-words.ts';

/* Text that a payer signs to receive a paid response again, and the header of that signature. */

/** A request to deliver the response to a payment again. */
export interface Redelivery {
  /** Base URL of the service. */
  readonly base_url: string;
  readonly network: NetworkName;
  /** The EIP-3009 nonce, or the hash of the message on Solana. */
  readonly payment_id: string;
  /** Unix seconds. */
  readonly at_seconds: number;
}

/** Sent with a payment that does not prove by itself that its payer sends it. */
export const REDELIVERY_HEADER = 'X-SVC-Redeliver';

/**
 * Text that the wallet of the payer signs, as UTF-8: by `personal_sign` (EIP-191) or by contract (ERC-1271) on Base, by Ed25519 on
 * Solana. The header is `<unix seconds>:<signature>`, with the signature in hex on Base and in base58 on Solana.
 */
export function redeliveryText({ base_url, network, payment_id, at_seconds }: Redelivery): string {
  return signedText('redeliver', base_url, { network, payment_id, unix_seconds: at_seconds });
}

export interface RedeliveryProof {
  readonly at_seconds: number;
  readonly signature: string;
}

/** Null if the header has another form. */
export function readRedelivery(header: string): RedeliveryProof | null {
  const [, at, signature] = header.match(/^(\d{1,12}):([0-9A-Za-z]+)$/) ?? [];
  return at && signature ? { at_seconds: Number(at), signature } : null;
}

/** Null for any other text, so that a wallet never signs a text that its owner was not shown. */
export function readRedeliveryText(text: unknown): Redelivery | null {
  const [, base_url = '', network, payment_id = '', at] =
    String(text).match(
      /^svc\.redeliver\|(https?:\/\/[^|\s]{1,2000})\|(base|solana)\|([0-9A-Za-z]{1,100})\|(\d{1,12})$/,
    ) ?? [];
  return network ? { base_url, network: network as NetworkName, payment_id, at_seconds: Number(at) } : null;
}
