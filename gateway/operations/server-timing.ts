import type { FastifyReply } from 'fastify';

/* The Server-Timing header: what each step of a request took; silent on 401 and 403. */

export const SERVER_TIMING = 'server-timing';

/**
 * Adds the whole of a request to what its steps took. Not where possession was refused: those answers say nothing but
 * their status, and how long it took might tell a book that exists from one that does not.
 */
export function timeWhole(reply: FastifyReply): void {
  const { statusCode, elapsedTime } = reply;
  if (statusCode === 401 || statusCode === 403) {
    reply.removeHeader(SERVER_TIMING);
    return;
  }
  const steps = reply.getHeader(SERVER_TIMING);
  const total = `total;dur=${elapsedTime.toFixed(2)}`;
  reply.header(SERVER_TIMING, steps ? `${steps}, ${total}` : total);
}
