import { canonicalJson, type JsonObject } from './canonical-json.ts';
import type { documents } from './documents.ts';
import { signedWords } from './signed-words.ts';

/* Signed claims of inflows: one by the issuer for each inflow and, optionally, one by the wallet of the agent beforehand. */

/**
 * Claim signed by the issuer: the owner of this book set aside an amount for a bucket. All members except `signature` are signed as
 * canonical JSON (RFC 8785) with raw ES256. It contains no payment and is not spending.
 */
export interface InflowClaimPayload extends JsonObject {
  readonly schema: typeof documents.inflow_claim;
  /** Public base URL of the issuer. */
  readonly iss: string;
  readonly verify_jwks: string;
  readonly agent_id: number;
  readonly task_id: string;
  readonly bucket: string;
  /** Atomic USDC, as digits. */
  readonly allocation: string;
  /** ISO 8601. */
  readonly claimed_at: string;
}

/** Claims that a wallet can sign beforehand. */
export type WalletClaimKind = 'inflow' | 'correction';

/**
 * Text that the wallet signs (EIP-191, personal_sign): the signed word, a pipe, and the canonical JSON of the claim without its
 * signature.
 */
export function walletClaimText(kind: WalletClaimKind, { signature: _, ...members }: JsonObject): string {
  return `${signedWords[kind].word}|${canonicalJson(members)}`;
}
