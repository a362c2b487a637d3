import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { problem } from '../../rest-compat/problem.ts';

/* Refuses a request that names two hosts, by 400 (RFC 9112 section 3.2). */

/**
 * RFC 9112 section 3.2: a request with two Host lines is answered with 400. Node takes the first and says nothing, while
 * whoever stands before us may have gone by the second.
 */
export function requireOneHost(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!namesHosts(request.raw)) return done();
    const { status, headers, body } = problem({ code: 'invalid_request', message: 'The request names two hosts.' });
    reply
      .code(status)
      .headers({ ...headers, 'x-content-type-options': 'nosniff', connection: 'close' })
      .send(body);
  });
}

/** Whether it names more than one; that it names one Node sees to itself. */
export function namesHosts({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (/^host$/i.test(rawHeaders[at] ?? '')) hosts++;
  return hosts > 1;
}
