import type { IncomingMessage } from 'node:http';
import { sha256Hex } from '../schema/digest.ts';
import type { Columns } from './door.ts';
import type { Answer } from './problem.ts';

/** Of a door whose answers are kept nowhere. */
export const NO_STORE = 'no-store';

/** 128 bits: none other has it. */
const TAG_DIGITS = 32;

/**
 * What may be kept is named by what it says, and whoever shows that name has it still: 304, without a body (RFC 9110 13.1.2,
 * 15.4.5). The name is weak, since it is one for all content codings (8.8.3.3); @fastify/etag would name the answers of every
 * door, paid ones too, and compare with one name where a caller may show several.
 */
export function conditional(
  { cache, status }: Pick<Columns, 'cache' | 'status'>,
  { headers }: Pick<IncomingMessage, 'headers'>,
  answer: Answer,
): Answer {
  if (cache === NO_STORE || answer.status !== status || answer.body === null) return answer;
  const tag = sha256Hex(answer.body).slice(0, TAG_DIGITS);
  // It may be compressed, and a 304 says what the answer in its place would have.
  const named: Answer['headers'] = { ...answer.headers, etag: `W/"${tag}"`, vary: 'accept-encoding' };
  if (!shows(headers['if-none-match'], tag)) return { ...answer, headers: named };
  const { 'content-type': _, ...kept } = named;
  return { status: 304, headers: kept, body: null };
}

/** Whether one of the names is that tag's, strong or weak: here that makes no difference. */
function shows(names: string | undefined, tag: string): boolean {
  if (names === undefined) return false;
  return names.trim() === '*' || [...names.matchAll(/"([^"]*)"/g)].some(([, shown]) => shown === tag);
}
