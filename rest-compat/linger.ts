import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { limits } from '../schema/limits.ts';

/**
 * Whether an answer leaves a body on the wire that is not worth draining for the sake of the connection:
 * Node discards what is left of a small one, and the connection goes on.
 */
export function leavesUnread(request: IncomingMessage): boolean {
  if (request.complete) return false;
  if (request.headers['transfer-encoding'] !== undefined) return true;
  return Number(request.headers['content-length'] ?? 0) > limits.unread_body_drained_bytes_max;
}

/**
 * The answer at once, its end only when the caller stopped sending or the time is up. To close a socket with unread
 * bytes in it sends RST, by which a caller that is still sending may lose the answer (RFC 9112 9.6).
 */
export function lingering(answer: string, request: IncomingMessage): Readable {
  const stream = new Readable({ read() {} });
  const finish = () => {
    clearTimeout(timer);
    request.off('end', finish).off('close', finish).off('error', finish);
    stream.push(null);
  };
  const timer = setTimeout(finish, limits.linger_ms_max);
  request.once('end', finish).once('close', finish).once('error', finish);
  if (answer !== '') stream.push(answer);
  request.resume();
  return stream;
}
