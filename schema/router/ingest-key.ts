import { CHECKED_SECRET_BYTES, checkedSecret, type ShownSecret, shownSecret } from '../checked-secret.ts';

/* The key of a router book. Its holder can report generations to that book. */

const PREFIX = 'svcr_';

/** Number of random bytes in a key. */
export const INGEST_KEY_BYTES = CHECKED_SECRET_BYTES;

export function ingestKey(random: Uint8Array): string {
  return checkedSecret(PREFIX, random);
}

export type ShownIngestKey = ShownSecret;

export function shownIngestKey(key: string): ShownIngestKey {
  return shownSecret(PREFIX, key);
}

/** Whether a bearer credential is a router book key and not an API key. */
export function isMeantForRouterBook(credential: string): boolean {
  return credential.startsWith(PREFIX);
}
