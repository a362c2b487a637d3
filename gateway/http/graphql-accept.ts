import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { bestLiked, likesBetter, namesIn } from '../../rest-compat/http/accept.ts';
import { eventStream } from '../../rest-compat/sse.ts';
import { Refusal } from '../../schema/errors.ts';
import { refuse } from './graphql-answer.ts';
import { jsonMedia, jsonMediaFor } from './graphql-media.ts';

/* In which form /graphql answers, by the Accept header of a request (RFC 9110 12.5.1). */

const EVENTS = eventStream['content-type'];

/** Whether a request takes events alone, or likes them better than JSON in either of its spellings. */
function wantsEvents({ headers: { accept } }: FastifyRequest): boolean {
  return likesBetter(accept, EVENTS, jsonMediaFor(accept));
}

/** A subscription has no other form than events, so whoever names them beside JSON has them. */
export function takesEvents({ headers: { accept } }: FastifyRequest): boolean {
  return namesIn(accept, EVENTS);
}

/** 406 before anything is asked, charged or done, where nothing that a path offers is accepted. */
export function refuseUnacceptable(
  scope: FastifyInstance,
  offers: Readonly<Record<string, readonly string[]>>,
  logger: Logger,
): void {
  scope.addHook('preHandler', async (request, reply) => {
    const offered = offers[request.routeOptions.url ?? ''];
    if (offered === undefined || bestLiked(request.headers.accept, offered) !== null) return;
    return refuse(request, reply, [new Refusal('not_acceptable', { facts: { offered: [...offered] } })], logger, 406);
  });
}

export const graphqlForms = [...jsonMedia, EVENTS];
export const streamForms = [EVENTS];

/**
 * Answers of one path as an event each, for whoever takes nothing else (graphql-sse, distinct connections): `next` with the
 * text that would have been the body, then `complete`. What GraphQL finds wrong is an event, too, since clients fail a
 * connection that is 400 without reading it; any other status stands, so that a 402 is paid and a 429 waited for.
 */
export function answerInEvents(scope: FastifyInstance, path: string): void {
  const in_events = new WeakSet<FastifyRequest>();
  scope.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.url === path && wantsEvents(request)) {
      in_events.add(request);
      // Compressed first, it would be no text any more.
      request.headers['x-no-compression'] = 'events';
    }
    done();
  });
  // Not a promise: while one is waited for the answer has not ended, and whoever leaves then would have the handler run as well.
  scope.addHook('onSend', (request, reply, payload, done) => {
    const is_json = /^application\/(?:[\w-]+\+)?json\b/.test(String(reply.getHeader('content-type')));
    if (!in_events.has(request) || !is_json || typeof payload !== 'string') return done();
    reply.headers(eventStream);
    if (reply.statusCode === 400) reply.code(200);
    done(null, `event: next\ndata: ${payload}\n\nevent: complete\ndata: \n\n`);
  });
}
