import { limits } from './limits.ts';
import { type NetworkName, networks } from './network.ts';
import { signedText } from './signed-words.ts';

/* Text that a payer signs to see and cancel the tasks that it paid for, and the header of that signature. */

/** Header of a request for the caller's own tasks. */
export const PAYER_HEADER = 'X-SVC-Payer';

/** A claim to be a payer, and its time. Not verified yet. */
export interface PayerProof {
  readonly network: NetworkName;
  /** In the signed spelling: EIP-55 on Base. */
  readonly wallet: string;
  readonly at_seconds: number;
  /** Hex on Base, base58 on Solana. */
  readonly signature: string;
}

/**
 * Text that the wallet signs, as UTF-8: by `personal_sign` (EIP-191) or by contract (ERC-1271) on Base, by Ed25519 on Solana. It
 * names the service, so that the signature cannot be used at another one.
 */
export function payersText(base_url: string, { network, wallet, at_seconds }: Omit<PayerProof, 'signature'>): string {
  return signedText('tasks', base_url, { network, wallet, unix_seconds: at_seconds });
}

/** Reads `<network>:<wallet>:<unix seconds>:<signature>`. Null if the header has another form. */
export function readPayerProof(header: string): PayerProof | null {
  if (header.length > limits.wallet_signature_chars_max + 128) return null;
  const [, network, wallet = '', at, signature = ''] =
    /^([a-z]{2,16}):([0-9A-Za-z]{32,44}):(\d{1,12}):([0-9A-Za-z]+)$/.exec(header) ?? [];
  if (network === undefined || !Object.hasOwn(networks, network)) return null;
  return { network: network as NetworkName, wallet, at_seconds: Number(at), signature };
}
