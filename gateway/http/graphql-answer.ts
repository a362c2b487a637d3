import { type ApolloServerPlugin, type GraphQLRequestContext, HeaderMap } from '@apollo/server';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { Logger } from 'pino';
import { acceptsByName, bestAccepted, prefers } from '../../rest-compat/http/accept.ts';
import { eventStream } from '../../rest-compat/sse.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { type ErrorCode, isErrorCode, Refusal } from '../../schema/errors.ts';
import type { Context } from '../../subgraphs/context.ts';
import { refusalHeaders } from '../call/response-headers.ts';
import { publicError } from '../graph/public-error.ts';
import { SERVER_TIMING } from '../operations/requests.ts';

/* The form of a /graphql response: status, headers, media type, and responses as events. */

/**
 * Sets status and headers of a GraphQL response. Errors of fields leave the status at 200, as in GraphQL over HTTP. The exception
 * is a refused payment: it is 402 with its challenge in the headers, so that an x402 client can pay on /graphql too.
 */
export function httpAnswer(logger: Logger): ApolloServerPlugin<Context> {
  return {
    async requestDidStart() {
      return { willSendResponse };
    },
    // Apollo responds to these errors with its own message and does not report the cause.
    async unexpectedErrorProcessingRequest({ error }) {
      logger.error({ err: error }, 'a GraphQL request failed with an unexpected error, shown in err');
    },
  };
}

async function willSendResponse({ contextValue, request, response }: ResponseContext): Promise<void> {
  const { headers } = response.http;
  for (const [name, value] of Object.entries(contextValue.response.headers)) headers.set(name.toLowerCase(), value);
  headers.set('cache-control', 'no-store');
  // The server replaces an empty header with the measured times.
  if (!headers.has(SERVER_TIMING)) headers.set(SERVER_TIMING, '');
  if (response.body.kind !== 'single') return;
  // Otherwise Apollo would refuse clients that accept only events, after the operation has already run.
  headers.set('content-type', `${jsonMediaFor(request.http?.headers.get('accept'))}; charset=utf-8`);
  if (!response.body.singleResult.errors) return;

  const { errors } = response.body.singleResult;
  if (errors.some(({ extensions }) => extensions?.status === 401 || extensions?.status === 403))
    headers.delete(SERVER_TIMING);
  if (errors.some(error => error.extensions?.status === 402)) response.http.status = 402;
  for (const { extensions } of errors) {
    const { code, answer_headers, ...facts } = (extensions ?? {}) as JsonObject;
    // A paid field is the only field of its operation, so its error is the only error.
    const paid = isErrorCode(code) ? refusalHeaders(contextValue, { code, facts }) : {};
    for (const [name, value] of Object.entries({ ...paid, ...(answer_headers as Record<string, string>) }))
      headers.set(name.toLowerCase(), value);
  }
  response.body.singleResult.errors = errors.map(withoutHeaders);
}

type ResponseContext = Pick<GraphQLRequestContext<Context>, 'contextValue' | 'request' | 'response'> & {
  response: Required<GraphQLRequestContext<Context>['response']>;
};

function withoutHeaders(error: GraphQLFormattedError): GraphQLFormattedError {
  if (!error.extensions) return error;
  const { answer_headers: _, offered_here: _here, ...extensions } = error.extensions;
  return { ...error, extensions };
}

/** The response if the context cannot be created (an invalid session, a broken database). It has the status of the Refusal. */
export function contextFault(error: unknown, logger: Logger): GraphQLError {
  const { message, extensions } = publicError(
    error instanceof GraphQLError ? error : new Refusal('internal', { cause: error }),
    logger,
  );
  const { answer_headers = {}, ...facts } = extensions;
  const headers = new HeaderMap();
  for (const [name, value] of Object.entries(answer_headers as Record<string, string>))
    headers.set(name.toLowerCase(), value);
  return new GraphQLError(message, { extensions: { ...facts, http: { status: extensions.status, headers } } });
}

/** Refuses a request that exceeds its rate, with Retry-After (RFC 6585 section 4). */
export function refuseTooMany(
  retry_after_seconds: number,
  request: FastifyRequest,
  reply: FastifyReply,
  logger: Logger,
): FastifyReply {
  reply.header('retry-after', String(retry_after_seconds));
  return refuse(request, reply, [new Refusal('rate_limited', { facts: { retry_after_seconds } })], logger, 429);
}

/** Refuses a request in the form and media type of Apollo's own refusals. */
export function refuse(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  faults: readonly GraphQLError[],
  logger: Logger,
  status = 400,
): FastifyReply {
  const errors = faults.map(fault => publicError(fault, logger).toJSON());
  return reply
    .code(status)
    .headers({ 'cache-control': 'no-store', 'content-type': `${jsonMediaFor(headers.accept)}; charset=utf-8` })
    .send(JSON.stringify({ errors }));
}

/** Reports Fastify's errors on /graphql (body too large, wrong type, invalid JSON) in GraphQL's form. */
export function answerFault(error: FastifyError, reply: FastifyReply, logger: Logger): FastifyReply {
  const code = error.statusCode ? faults[error.statusCode] : undefined;
  const fault = publicError(code ? new Refusal(code) : error, logger);
  return reply.code(Number(fault.extensions.status)).send({ errors: [fault] });
}

const faults: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_request',
  413: 'request_too_large',
  415: 'unsupported_media_type',
};

/** Media types of GraphQL over HTTP, starting with the default. */
const jsonMedia = ['application/json', 'application/graphql-response+json'] as const;

/** The media type that a request prefers. If it accepts neither, the default is used, because a refusal must be reported. */
function jsonMediaFor(accepted: string | undefined): (typeof jsonMedia)[number] {
  return bestAccepted(accepted, jsonMedia) ?? jsonMedia[0];
}

const EVENTS = eventStream['content-type'];

/** Whether the Accept header (RFC 9110 section 12.5.1) accepts only events, or prefers them to JSON of either media type. */
function wantsEvents({ headers: { accept } }: FastifyRequest): boolean {
  return prefers(accept, EVENTS, jsonMediaFor(accept));
}

/**
 * Whether the client accepts events by name. A subscription exists only as events, so a client that accepts them in addition to
 * JSON gets them.
 */
export function takesEvents({ headers: { accept } }: FastifyRequest): boolean {
  return acceptsByName(accept, EVENTS);
}

/** Refuses a request with 406, before anything is read, charged or done, if the client accepts none of the path's media types. */
export function refuseUnacceptable(
  scope: FastifyInstance,
  offers: Readonly<Record<string, readonly string[]>>,
  logger: Logger,
): void {
  scope.addHook('preHandler', async (request, reply) => {
    const offered = offers[request.routeOptions.url ?? ''];
    if (offered === undefined || bestAccepted(request.headers.accept, offered) !== null) return;
    return refuse(request, reply, [new Refusal('not_acceptable', { facts: { offered: [...offered] } })], logger, 406);
  });
}

export const graphqlForms = [...jsonMedia, EVENTS];
export const streamForms = [EVENTS];

/**
 * Sends the responses of a path as events to clients that accept no other type (graphql-sse, distinct connections): `next` with the
 * text that would have been the body, then `complete`. GraphQL errors are events too, because clients drop a response with status
 * 400 without reading it. Any other status is kept, so that a client can pay after a 402 and wait after a 429.
 */
export function answerInEvents(scope: FastifyInstance, path: string): void {
  const in_events = new WeakSet<FastifyRequest>();
  scope.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.url === path && wantsEvents(request)) {
      in_events.add(request);
      // A compressed response could not be rewritten as events, because it is no longer text.
      request.headers['x-no-compression'] = 'events';
    }
    done();
  });
  // The hook uses a callback instead of a promise. With a promise the response would not have ended while the hook is awaited, and
  // if the client disconnected then, the handler would run as well.
  scope.addHook('onSend', (request, reply, payload, done) => {
    const is_json = /^application\/(?:[\w-]+\+)?json\b/.test(String(reply.getHeader('content-type')));
    if (!in_events.has(request) || !is_json || typeof payload !== 'string') return done();
    reply.headers(eventStream);
    if (reply.statusCode === 400) reply.code(200);
    done(null, `event: next\ndata: ${payload}\n\nevent: complete\ndata: \n\n`);
  });
}
