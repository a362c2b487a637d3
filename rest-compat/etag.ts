import { sha256Hex } from '../schema/digest.ts';
import { type Columns, NO_STORE } from './door.ts';
import type { RequestHeaders } from './door-request.ts';
import type { Answer } from './problem.ts';

/* The names of answers that may be kept, and what whoever shows one is told. */

/** 128 bits: none other has it. */
const TAG_DIGITS = 32;

/**
 * What may be kept is named by what it says. The name is weak, since it is one for all content codings (RFC 9110 8.8.3.3);
 * @fastify/etag would name the answers of every door, paid ones too, and compare with one name where a caller may show several.
 */
export function tagged({ cache, status }: Pick<Columns, 'cache' | 'status'>, answer: Answer): Answer {
  if (cache === NO_STORE || answer.status !== status || answer.body === null) return answer;
  const tag = sha256Hex(answer.body).slice(0, TAG_DIGITS);
  // It may be compressed, and a 304 says what the answer in its place would have.
  return { ...answer, headers: { ...answer.headers, etag: `W/"${tag}"`, vary: 'accept-encoding' } };
}

/**
 * Whoever shows the answer's name has it still: 304, without a body (RFC 9110 13.1.2, 15.4.5). So has who shows no name, and a
 * time at which it had last been changed (13.1.3).
 */
export function unlessKnown(headers: RequestHeaders, answer: Answer): Answer {
  const { etag, 'content-type': _, ...others } = answer.headers;
  if (etag === undefined) return answer;
  const { 'if-none-match': names, 'if-modified-since': since } = headers;
  if (names === undefined ? !isUnchanged(others['last-modified'], since) : !shows(names, etag)) return answer;
  return { status: 304, headers: { ...others, etag }, body: null };
}

function isUnchanged(changed: string | undefined, since: RequestHeaders[string]): boolean {
  return changed !== undefined && typeof since === 'string' && Date.parse(since) >= Date.parse(changed);
}

/** Whether one of the names is that of the answer, strong or weak: here that makes no difference. */
function shows(names: RequestHeaders[string], etag: string): boolean {
  if (typeof names !== 'string') return false;
  return names.trim() === '*' || [...names.matchAll(/"[^"]*"/g)].some(([shown]) => etag === `W/${shown}`);
}
