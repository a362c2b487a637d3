import type { IncomingMessage } from 'node:http';
import { isJsonObject } from '../../schema/canonical-json.ts';
import { exceededBy } from '../../schema/json-bounds.ts';
import { limits } from '../../schema/limits.ts';
import { type Body, brokenOff, malformed, tooLarge } from './reading.ts';

/** Reads a JSON object of at most so many bytes. */
export async function readJson(request: IncomingMessage, bytes_max: number): Promise<Body> {
  if (Number(request.headers['content-length'] ?? 0) > bytes_max) return tooLarge;
  const bytes = await bytesOf(request, bytes_max);
  return bytes === null ? tooLarge : parsed(bytes);
}

/** Null from the limit on: the rest stays unread, and the socket whole, for the refusal still has to go out on it. */
function bytesOf(request: IncomingMessage, bytes_max: number): Promise<Uint8Array | null> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array | null>();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const take = (chunk: Uint8Array) => {
    length += chunk.byteLength;
    chunks.push(chunk);
    if (length <= bytes_max) return;
    request.off('data', take).pause();
    resolve(null);
  };
  request
    .on('data', take)
    .once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length)))
    .once('error', reject)
    .once('close', () => request.complete || reject(brokenOff()));
  // It may have been over before anybody listened.
  if (request.destroyed) reject(brokenOff());
  return promise;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

const exceeding = {
  depth: malformed(`Objects and lists lie in each other more than ${limits.json_depth_max} deep.`),
  members: malformed(`The body has more than ${limits.json_members_max} members.`),
} as const;

function parsed(bytes: Uint8Array): Body {
  // Before it is parsed, which would cost more than to refuse it.
  const exceeded = exceededBy(bytes);
  if (exceeded) return exceeding[exceeded];
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes));
    if (isJsonObject(value)) return { kind: 'json', value };
  } catch {
    return malformed('The body is not JSON in UTF-8.');
  }
  return malformed('The body must be a JSON object.');
}
