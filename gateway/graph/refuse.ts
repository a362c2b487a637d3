import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { type ErrorCode, Refusal } from '../../schema/errors.ts';
import { publicError } from './public-error.ts';

/** RFC 6585 §4. */
export function tooMany(
  retry_after_seconds: number,
  request: FastifyRequest,
  reply: FastifyReply,
  logger: Logger,
): FastifyReply {
  reply.header('retry-after', String(retry_after_seconds));
  return refuse(request, reply, [new Refusal('rate_limited', { facts: { retry_after_seconds } })], logger, 429);
}

/** In the form, and the media type, in which Apollo answers what it refuses itself. */
export function refuse(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  faults: readonly GraphQLError[],
  logger: Logger,
  status = 400,
): FastifyReply {
  const type = headers.accept?.includes(GRAPHQL_RESPONSE) ? GRAPHQL_RESPONSE : 'application/json';
  const errors = faults.map(fault => publicError(fault, logger).toJSON());
  return reply
    .code(status)
    .headers({ 'cache-control': 'no-store', 'content-type': `${type}; charset=utf-8` })
    .send(JSON.stringify({ errors }));
}

const GRAPHQL_RESPONSE = 'application/graphql-response+json';

/** Fastify's own faults on /graphql (a body too large, of another type, no JSON), in GraphQL's form. */
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
