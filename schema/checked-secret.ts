import { sha256Hex } from './digest.ts';

/* Secrets that a bearer shows: how they are spelled, and what of one goes further than where it was shown. */

const RANDOM_CHARS = 43;
const CHECK_DIGITS = 8;

/** From which one is made. */
export const CHECKED_SECRET_BYTES = 32;

/** What a secret comes to where it was shown: its SHA-256 alone, so that no context, log or call holds the secret itself. */
export type ShownSecret =
  /** It cannot be one. */
  { readonly kind: 'wrong' } | { readonly kind: 'shown'; readonly token_hash: string };

/**
 * The prefix, 256 random bits in base64url, and the first 8 hex digits of SHA-256 of both. Secret scanners recognise
 * the form, and a mistyped secret is detected without a look-up.
 */
export function checkedSecret(prefix: string, random: Uint8Array): string {
  const secret = prefix + Buffer.from(random).toString('base64url');
  return secret + checkOf(secret);
}

export function shownSecret(prefix: string, shown: string): ShownSecret {
  const spelling = new RegExp(`^${prefix}[\\w-]{${RANDOM_CHARS}}[0-9a-f]{${CHECK_DIGITS}}$`);
  if (!spelling.test(shown) || !shown.endsWith(checkOf(shown.slice(0, -CHECK_DIGITS)))) return { kind: 'wrong' };
  return { kind: 'shown', token_hash: sha256Hex(shown) };
}

function checkOf(secret: string): string {
  return sha256Hex(secret).slice(0, CHECK_DIGITS);
}
