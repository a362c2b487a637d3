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
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop must not destroy the socket: the refusal still has to go out on it.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > limits.request_bytes_max) return tooLarge;
    chunks.push(chunk);
  }
  return parsed(Buffer.concat(chunks, bytes));
}

const tooLarge: Body = { kind: 'refused', code: 'request_too_large' };

function parsed(bytes: Uint8Array): Body {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (isJsonObject(value)) return { kind: 'json', value };
  } catch {
    return { kind: 'refused', code: 'invalid_request', detail: 'The body is not JSON in UTF-8.' };
  }
  return { kind: 'refused', code: 'invalid_request', detail: 'The body must be a JSON object.' };
}
