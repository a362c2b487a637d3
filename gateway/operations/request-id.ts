import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/* The x-request-id of a request: the caller's own where it is well formed, or else a new one. */

export const REQUEST_ID = 'x-request-id';

/** A UUID (RFC 9562 §4) or a ULID: shorter than any key, session or signature, which a caller might put there. */
const WELL_FORMED = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-7][0-9A-HJKMNP-TV-Z]{25})$/i;

/** The caller's own where it is well formed, so that their log and ours name one thing; it goes into the log. */
export function requestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers[REQUEST_ID];
  return typeof given === 'string' && WELL_FORMED.test(given) ? given : randomUUID();
}
