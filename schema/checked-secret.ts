import { sha256Hex } from './digest.ts';

/* Bearer secrets with a checksum: how they are spelled, and what is passed on of one. */

const RANDOM_CHARS = 43;
const CHECK_DIGITS = 8;

/** Number of random bytes in a secret. */
export const CHECKED_SECRET_BYTES = 32;

/** A secret as it is passed on: only its SHA-256, so that no context, log or call contains the secret itself. */
export type ShownSecret =
  /** The checksum or the form is wrong. */
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
