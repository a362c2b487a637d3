import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError, getOperationAST, OperationTypeNode } from 'graphql';
import type { Logger } from 'pino';
import { credentialsIn } from '../../rest-compat/credentials.ts';
import { eventStream } from '../../rest-compat/sse.ts';
import { Refusal } from '../../schema/errors.ts';
import { provenOnGraphql } from '../graph/identify.ts';
import type { Graph } from '../graph/open-graph.ts';
import { publicError } from '../graph/public-error.ts';
import type { Requested } from '../sockets/operation.ts';
import type { EventStreams } from '../sockets/serve-events.ts';
import { refuse } from './graphql-answer.ts';
import { askedIn } from './graphql-request.ts';

export interface Streaming {
  readonly graph: Graph;
  readonly streams: EventStreams;
  readonly logger: Logger;
}

/** Subscriptions over SSE: the protocol of graphql-sse with a connection for each, by POST or GET. */
export function serveEventStreams(scope: FastifyInstance, path: string, { graph, streams, logger }: Streaming): void {
  scope.route({
    method: ['GET', 'POST'],
    url: path,
    // What is compressed is held back until there is enough of it.
    compress: false,
    async handler(request, reply) {
      try {
        const requested = subscriptionIn(request, graph);
        const credentials = credentialsIn(request.headers, {}, provenOnGraphql(request, path), request.ip);
        const body = await streams.open(requested, credentials);
        return reply.headers({ ...eventStream, 'x-content-type-options': 'nosniff' }).send(body.readable);
      } catch (fault) {
        return refused(request, reply, fault, logger);
      }
    },
  });
}

const ONLY = 'Only subscriptions are answered in events: ask /graphql.';

/** @throws Refusal where it asks for nothing that comes in events. */
function subscriptionIn(request: FastifyRequest, graph: Graph): Requested {
  const { query, operationName, variables } = askedIn(request);
  if (query === null) throw new Refusal('invalid_request', { detail: 'A query is asked for.' });
  const operation = getOperationAST(graph.parse(query), operationName)?.operation;
  if (operation !== OperationTypeNode.SUBSCRIPTION) throw new Refusal('invalid_request', { detail: ONLY });
  return { query, operationName, variables };
}

/** As on /graphql, but for the status, which says what is wrong: nothing of an answer has begun. */
function refused(request: FastifyRequest, reply: FastifyReply, fault: unknown, logger: Logger): FastifyReply {
  const told = publicError(fault instanceof GraphQLError ? fault : new Refusal('internal', { cause: fault }), logger);
  const { answer_headers = {}, ...extensions } = told.extensions;
  reply.headers(answer_headers as Record<string, string>);
  return refuse(request, reply, [new GraphQLError(told.message, { extensions })], logger, Number(extensions.status));
}
