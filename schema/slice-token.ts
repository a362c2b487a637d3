import { sha256Hex } from './digest.ts';

/* The token of an assignment: how it is spelled, and what of it goes further than where it was shown. */

const PREFIX = 'svca_';
const SECRET_CHARS = 43;
const CHECK_DIGITS = 8;
const SPELLING = new RegExp(`^${PREFIX}[\\w-]{${SECRET_CHARS}}[0-9a-f]{${CHECK_DIGITS}}$`);

/** From which a token is made. */
export const SLICE_TOKEN_BYTES = 32;

/**
 * `svca_`, 256 random bits in base64url, and the first 8 hex digits of SHA-256 of all that stands before: whoever scans
 * text for secrets knows one when it is seen, and a mistyped one is told without asking anybody.
 */
export function sliceToken(random: Uint8Array): string {
  const secret = PREFIX + Buffer.from(random).toString('base64url');
  return secret + checkOf(secret);
}

/** What a token comes to where it was shown: its SHA-256 alone, so that no context, log or call holds the token itself. */
export type ShownSlice =
  /** It cannot be one. */
  { readonly kind: 'wrong' } | { readonly kind: 'shown'; readonly token_hash: string };

export function shownSlice(token: string): ShownSlice {
  const secret = token.slice(0, -CHECK_DIGITS);
  if (!SPELLING.test(token) || !token.endsWith(checkOf(secret))) return { kind: 'wrong' };
  return { kind: 'shown', token_hash: sha256Hex(token) };
}

/** Whether a bearer's credential is meant for a slice: then it is no API key. */
export function isMeantForSlice(credential: string): boolean {
  return credential.startsWith(PREFIX);
}

function checkOf(secret: string): string {
  return sha256Hex(secret).slice(0, CHECK_DIGITS);
}
