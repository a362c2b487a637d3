import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { isJsonObject } from '../../schema/canonical-json.ts';
import { findExceededBound, repeatedMember } from '../../schema/json-bounds.ts';
import { limits } from '../../schema/limits.ts';
import type { Body } from '../door-request.ts';

/** A request has a body if it states a length or a transfer coding (RFC 9112 6.3). */
export function declaresBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** The stated length, or the maximum if none is stated. */
export function expectedBytes({ headers }: IncomingMessage, bytes_max: number): number {
  const stated = headers['content-length'];
  if (stated === undefined) return headers['transfer-encoding'] === undefined ? 0 : bytes_max;
  return Math.min(Number(stated), bytes_max);
}

export const tooLarge: Body = { kind: 'refused', code: 'request_too_large' };

export function malformedBody(detail: string, param?: string): Body {
  return { kind: 'refused', code: 'invalid_request', detail, ...(param !== undefined && { param }) };
}

/** Valid JSON, but not an object. */
export const notAnObject = malformedBody('The body must be a JSON object.');

/** Refusal of a file, also of one in JSON. */
export const noRoom: Extract<Body, { kind: 'refused' }> = {
  kind: 'refused',
  code: 'unavailable',
  detail: 'The service is receiving too many files at once. Try again; if you sent a payment, send the same payment.',
};

/** The client has disconnected. */
export const interruptedError = () => new Error('the request broke off');

/** Space for a body while it is read. */
interface BodyRoom {
  /** Called for each piece before it is stored; false if there is no space. */
  take(bytes: number): boolean;
  /** Aborted when the space is needed for others. */
  readonly lost: AbortSignal;
}

/** Reads a JSON object of at most `bytes_max` bytes. */
export async function readJson(request: IncomingMessage, bytes_max: number, room?: BodyRoom): Promise<Body> {
  if (Number(request.headers['content-length'] ?? 0) > bytes_max) return tooLarge;
  const read = await bytesOf(request, bytes_max, room);
  return read instanceof Uint8Array ? parseJson(read) : read;
}

/**
 * Refuses the body at the limit. The rest stays unread and the socket open, because the refusal is sent on it. The chunks are released
 * early, because the request lives for as long as its call.
 */
function bytesOf(request: IncomingMessage, bytes_max: number, room?: BodyRoom): Promise<Uint8Array | Body> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array | Body>();
  let chunks: Uint8Array[] = [];
  let length = 0;
  const settle = () => {
    request.off('data', take).off('end', end).off('error', fail).off('close', close);
    room?.lost.removeEventListener('abort', lose);
    chunks = [];
  };
  const refuse = (refusal: Body) => {
    settle();
    request.pause();
    resolve(refusal);
  };
  const take = (chunk: Uint8Array) => {
    length += chunk.byteLength;
    if (length > bytes_max) return refuse(tooLarge);
    if (room?.take(chunk.byteLength) === false) return refuse(noRoom);
    chunks.push(chunk);
  };
  const end = () => {
    resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length));
    settle();
  };
  const fail = (fault: Error) => {
    settle();
    reject(fault);
  };
  const close = () => fail(interruptedError());
  const lose = () => refuse(noRoom);
  request.on('data', take).once('end', end).once('error', fail).once('close', close);
  room?.lost.addEventListener('abort', lose);
  // The request may have been closed before the listeners were added.
  if (request.destroyed) close();
  return promise;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

const exceeding = {
  depth: malformedBody(`The body is nested more than ${limits.json_depth_max} levels deep.`),
  members: malformedBody(`The body has more than ${limits.json_members_max} members.`),
} as const;

function parseJson(bytes: Uint8Array): Body {
  // The bounds are checked first, because parsing would cost more than a refusal.
  const exceeded = findExceededBound(bytes);
  if (exceeded) return exceeding[exceeded];
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes));
    const repeated = repeatedMember(bytes, value);
    if (repeated) return malformedBody(repeated.detail, repeated.param);
    if (isJsonObject(value)) return { kind: 'json', value };
  } catch {
    return malformedBody('The body is not JSON in UTF-8.');
  }
  return notAnObject;
}

/**
 * Whether an answer leaves an unread body that is too long to be drained. Node discards the rest of a short one and keeps the connection.
 */
export function leavesUnread(request: IncomingMessage): boolean {
  if (request.complete) return false;
  if (request.headers['transfer-encoding'] !== undefined) return true;
  return Number(request.headers['content-length'] ?? 0) > limits.unread_body_drained_bytes_max;
}

/**
 * Sends the answer at once, and ends it when the caller has stopped sending or the time is up. Closing a socket with unread bytes sends
 * RST, and the caller could lose the answer (RFC 9112 9.6).
 */
export function drainBeforeEnd(answer: string | Buffer, request: IncomingMessage): Readable {
  const stream = new Readable({ read() {} });
  const finish = () => {
    clearTimeout(timer);
    request.off('end', finish).off('close', finish).off('error', finish);
    stream.push(null);
  };
  const timer = setTimeout(finish, limits.linger_ms_max);
  request.once('end', finish).once('close', finish).once('error', finish);
  if (answer.length > 0) stream.push(answer);
  request.resume();
  return stream;
}
