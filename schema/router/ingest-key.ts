import { CHECKED_SECRET_BYTES, checkedSecret, type ShownSecret, shownSecret } from '../checked-secret.ts';

/* The key of a router book: whoever shows it broadcasts to that book. */

const PREFIX = 'svcr_';

/** From which a key is made. */
export const INGEST_KEY_BYTES = CHECKED_SECRET_BYTES;

export function ingestKey(random: Uint8Array): string {
  return checkedSecret(PREFIX, random);
}

export type ShownIngestKey = ShownSecret;

export function shownIngestKey(key: string): ShownIngestKey {
  return shownSecret(PREFIX, key);
}

/** Whether a bearer's credential is meant for a router book: then it is no API key. */
export function isMeantForRouterBook(credential: string): boolean {
  return credential.startsWith(PREFIX);
}
