import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError, getOperationAST, OperationTypeNode } from 'graphql';
import type { Logger } from 'pino';
import { credentialsIn } from '../../rest-compat/credentials.ts';
import { disconnectSignal } from '../../rest-compat/http/disconnect.ts';
import { eventStream } from '../../rest-compat/sse.ts';
import { Refusal } from '../../schema/errors.ts';
import { provenOnGraphql } from '../graph/identify.ts';
import type { Graph } from '../graph/open-graph.ts';
import { publicError } from '../graph/public-error.ts';
import type { SubscriptionRequest } from '../sockets/operation.ts';
import type { EventStreams } from '../sockets/serve-events.ts';
import { refuse, takesEvents } from './graphql-answer.ts';
import { readOperation, requestedKind } from './graphql-request.ts';

export interface EventStreamParts {
  readonly graph: Graph;
  readonly streams: EventStreams;
  readonly logger: Logger;
}

/** Serves subscriptions over SSE (graphql-sse), each on its own connection, by POST or GET. */
export function serveEventStreams(scope: FastifyInstance, path: string, streaming: EventStreamParts): void {
  scope.route({
    method: ['GET', 'POST'],
    url: path,
    // Compression would delay events.
    compress: false,
    async handler(request, reply) {
      await stream(request, reply, path, streaming);
      return reply;
    },
  });
}

/** Serves subscriptions of clients that accept events, on a path that also serves other operations. */
export function streamSubscriptions(scope: FastifyInstance, path: string, streaming: EventStreamParts): void {
  scope.addHook('preHandler', (request, reply, done) => {
    const is_here = request.routeOptions.url === path && takesEvents(request);
    if (!is_here || requestedKind(request, streaming.graph) !== OperationTypeNode.SUBSCRIPTION) return done();
    request.headers['x-no-compression'] = 'events';
    // The hook has no callback, so the route's handler does not run. With a callback, it would run if the reader disconnected before the
    // end.
    stream(request, reply, path, streaming).catch(done);
  });
}

async function stream(
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  { graph, streams, logger }: EventStreamParts,
): Promise<void> {
  try {
    const requested = subscriptionIn(request, graph);
    const credentials = credentialsIn(request.headers, {}, provenOnGraphql(request, path), request.ip);
    const body = await streams.open(requested, credentials, disconnectSignal(reply.raw, reply.raw.destroyed));
    reply.headers({ ...eventStream, 'x-content-type-options': 'nosniff' }).send(body.readable);
  } catch (fault) {
    sendRefusal(request, reply, fault, logger);
  }
}

const ONLY = 'Only subscriptions can be received as events. Send queries and mutations to /graphql.';

/** @throws Refusal if the operation is not a subscription */
function subscriptionIn(request: FastifyRequest, graph: Graph): SubscriptionRequest {
  const { query, operationName, variables } = readOperation(request);
  if (query === null) throw new Refusal('invalid_request', { detail: 'query is required.' });
  const operation = getOperationAST(graph.parse(query), operationName)?.operation;
  if (operation !== OperationTypeNode.SUBSCRIPTION) throw new Refusal('invalid_request', { detail: ONLY });
  return { query, operationName, variables };
}

/** Refuses as /graphql does, but with the error's status, because no response has begun. */
function sendRefusal(request: FastifyRequest, reply: FastifyReply, fault: unknown, logger: Logger): FastifyReply {
  const error = publicError(fault instanceof GraphQLError ? fault : new Refusal('internal', { cause: fault }), logger);
  const { answer_headers = {}, ...extensions } = error.extensions;
  reply.headers(answer_headers as Record<string, string>);
  return refuse(request, reply, [new GraphQLError(error.message, { extensions })], logger, Number(extensions.status));
}
