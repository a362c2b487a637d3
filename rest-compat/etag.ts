import { sha256Hex } from '../schema/digest.ts';
import { type Columns, NO_STORE } from './door.ts';
import type { RequestHeaders } from './door-request.ts';
import type { Answer } from './problem.ts';

/* ETags of responses that may be stored, and the answer to a conditional request. */

/** 128 bits, so that no two responses have the same. */
const TAG_DIGITS = 32;

/**
 * The ETag is a hash of the body. It is weak because it is the same for all content codings (RFC 9110 8.8.3.3). @fastify/etag would add one
 * to every response, paid ones too, and compare with a single value where a client may send several.
 */
export function addEtag({ cache, status }: Pick<Columns, 'cache' | 'status'>, answer: Answer): Answer {
  if (cache === NO_STORE || answer.status !== status || answer.body === null) return answer;
  const tag = sha256Hex(answer.body).slice(0, TAG_DIGITS);
  // The response may be compressed, and a 304 has the headers of the response that it replaces.
  return { ...answer, headers: { ...answer.headers, etag: `W/"${tag}"`, vary: 'accept-encoding' } };
}

/**
 * A client that sends the current ETag has the response already: 304 without a body (RFC 9110 13.1.2, 15.4.5). So does one that sends no
 * ETag, but a time at or after the last change (13.1.3).
 */
export function answerConditional(headers: RequestHeaders, answer: Answer): Answer {
  const { etag, 'content-type': _, ...others } = answer.headers;
  if (etag === undefined) return answer;
  const { 'if-none-match': names, 'if-modified-since': since } = headers;
  if (names === undefined ? !isUnchanged(others['last-modified'], since) : !hasEtag(names, etag)) return answer;
  return { status: 304, headers: { ...others, etag }, body: null };
}

function isUnchanged(changed: string | undefined, since: RequestHeaders[string]): boolean {
  return changed !== undefined && typeof since === 'string' && Date.parse(since) >= Date.parse(changed);
}

/** Whether one of the ETags is that of the response. Weak and strong ones are compared alike. */
function hasEtag(names: RequestHeaders[string], etag: string): boolean {
  if (typeof names !== 'string') return false;
  return names.trim() === '*' || [...names.matchAll(/"[^"]*"/g)].some(([shown]) => etag === `W/${shown}`);
}
