import type { FastifyInstance } from 'fastify';
import { leavesUnread } from '../../rest-compat/http/body.ts';

/** RFC 9110 9.3.7, before a body has room, a meter runs or Apollo has it: OPTIONS on a path that takes these methods. */
export function answerOptions(scope: FastifyInstance, methods: string): void {
  scope.addHook('onRequest', (request, reply, done) => {
    if (request.method !== 'OPTIONS') return done();
    if (leavesUnread(request.raw)) reply.header('connection', 'close');
    reply
      .code(204)
      .headers({ allow: `${methods}, OPTIONS`, 'x-content-type-options': 'nosniff' })
      .send();
  });
}
