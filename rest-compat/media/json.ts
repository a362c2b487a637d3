import type { IncomingMessage } from 'node:http';
import { isJsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { type Body, brokenOff, malformed, tooLarge } from './reading.ts';

/** Reads a JSON object. */
export async function readJson(request: IncomingMessage): Promise<Body> {
  if (Number(request.headers['content-length'] ?? 0) > limits.request_bytes_max) return tooLarge;
  const bytes = await bytesOf(request);
  return bytes === null ? tooLarge : parsed(bytes);
}

/** Null from the limit on: the rest stays unread, and the socket whole, for the refusal still has to go out on it. */
function bytesOf(request: IncomingMessage): Promise<Uint8Array | null> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array | null>();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const take = (chunk: Uint8Array) => {
    length += chunk.byteLength;
    chunks.push(chunk);
    if (length <= limits.request_bytes_max) return;
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

function parsed(bytes: Uint8Array): Body {
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes));
    if (isJsonObject(value)) return { kind: 'json', value };
  } catch {
    return malformed('The body is not JSON in UTF-8.');
  }
  return malformed('The body must be a JSON object.');
}
