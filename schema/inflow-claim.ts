import { canonicalJson, type JsonObject } from './canonical-json.ts';
import type { documents } from './documents.ts';
import { signedWords } from './signed-words.ts';

/* What is signed of an inflow: by the issuer, always, and before that by the agent's wallet, where its owner wants it so. */

/**
 * What the issuer signs: that this book's owner set so much aside for a bucket. Every member but `signature` is signed, as
 * canonical JSON (RFC 8785), by raw ES256. There is no payment in it, and it is not spend.
 */
export interface InflowClaimPayload extends JsonObject {
  readonly schema: typeof documents.inflow_claim;
  /** The issuer's public base. */
  readonly iss: string;
  readonly verify_jwks: string;
  readonly agent_id: number;
  readonly task_id: string;
  readonly bucket: string;
  /** Atomic USDC, digits. */
  readonly allocation: string;
  /** ISO 8601. */
  readonly claimed_at: string;
}

/** What a wallet may sign beforehand. */
export type WalletClaimKind = 'inflow' | 'correction';

/** The text that the wallet signs (EIP-191, personal_sign): the word, a pipe, and the claim but for its signature, canonical. */
export function walletClaimText(kind: WalletClaimKind, { signature: _, ...members }: JsonObject): string {
  return `${signedWords[kind].word}|${canonicalJson(members)}`;
}
