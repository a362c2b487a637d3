import type { IncomingMessage } from 'node:http';
import { isJsonObject, type JsonObject } from '../schema/canonical-json.ts';
import type { ErrorCode } from '../schema/errors.ts';
import { limits } from '../schema/limits.ts';

export type Body =
  | { readonly kind: 'json'; readonly value: JsonObject }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly detail?: string };

export const emptyBody: Body = { kind: 'json', value: {} };

const JSON_TYPE = /^application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;\s*charset="?utf-8"?\s*)?$/i;

/** RFC 9112 6.3: a request has a body where it says a length or a transfer coding. */
function declaresBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Reads a JSON object; no body is an empty object. What is too large is left unread from the limit on. */
export async function readBody(request: IncomingMessage): Promise<Body> {
  if (!declaresBody(request)) return emptyBody;
  const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = request.headers;
  if (!JSON_TYPE.test(type) || coding !== 'identity') return { kind: 'refused', code: 'unsupported_media_type' };
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

const brokenOff = () => new Error('the request broke off');

const tooLarge: Body = { kind: 'refused', code: 'request_too_large' };

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parsed(bytes: Uint8Array): Body {
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes));
    if (isJsonObject(value)) return { kind: 'json', value };
  } catch {
    return { kind: 'refused', code: 'invalid_request', detail: 'The body is not JSON in UTF-8.' };
  }
  return { kind: 'refused', code: 'invalid_request', detail: 'The body must be a JSON object.' };
}
