import { CHECKED_SECRET_BYTES, checkedSecret, type ShownSecret, shownSecret } from './checked-secret.ts';

/* The token of an assignment. */

const PREFIX = 'svca_';

/** Number of random bytes in a token. */
export const SLICE_TOKEN_BYTES = CHECKED_SECRET_BYTES;

export function sliceToken(random: Uint8Array): string {
  return checkedSecret(PREFIX, random);
}

export type ShownSlice = ShownSecret;

export function shownSlice(token: string): ShownSlice {
  return shownSecret(PREFIX, token);
}

/** Whether a bearer credential is a slice token and not an API key. */
export function isMeantForSlice(credential: string): boolean {
  return credential.startsWith(PREFIX);
}
