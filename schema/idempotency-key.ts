import { Refusal } from './errors.ts';
import { limits } from './limits.ts';

/* Reads the Idempotency-Key header. */

export const IDEMPOTENCY_HEADER = 'Idempotency-Key';

/** A string of structured fields (RFC 9651 3.3.3), the form that the draft requires. */
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;
const VISIBLE = /^[!-~]+$/;

/**
 * The key in the header (draft-ietf-httpapi-idempotency-key-header-07 section 2.1). Null if it is invalid. Most clients leave out the
 * quotes, so the key is the same with and without them.
 */
export function readIdempotencyKey(header: string): string | null {
  const key = header.match(QUOTED)?.[1]?.replace(/\\(.)/g, '$1') ?? header;
  return key.length <= limits.idempotency_key_chars_max && VISIBLE.test(key) ? key : null;
}

/** The key of a header that is present. @throws invalid_request if it is invalid */
export function idempotencyKeyIn(header: string): string {
  const key = readIdempotencyKey(header);
  if (key !== null) return key;
  const detail = `Idempotency-Key: not 1 to ${limits.idempotency_key_chars_max} visible ASCII characters.`;
  throw new Refusal('invalid_request', { param: IDEMPOTENCY_HEADER, detail, facts: { charged: false } });
}
