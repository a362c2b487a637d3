import type { Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import { ApolloServer } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { ApolloServerPluginLandingPageLocalDefault } from '@apollo/server/plugin/landingPage/default';
import fastifyApollo from '@as-integrations/fastify';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import { doorServerOptions } from '../rest-compat/server-options.ts';
import { type ErrorCode, Refusal } from '../schema/errors.ts';
import { limits } from '../schema/limits.ts';
import type { Context } from '../subgraphs/context.ts';
import { contextFault, httpAnswer } from './graph/http-answer.ts';
import { publicError } from './graph/public-error.ts';
import { type SocketCallers, serveSubscriptions } from './subscriptions.ts';
import type { Graph } from './supergraph.ts';

export interface ServerOptions {
  readonly graph: Graph;
  /** Once per request to /graphql. A Refusal thrown here answers with its own status. */
  createContext(request: FastifyRequest): Promise<Context>;
  readonly callers: SocketCallers;
  /** Adds everything that is not /graphql, error and not-found handlers included. */
  routes?(app: FastifyInstance): Promise<void>;
  readonly logger: Logger;
  /** Apollo's explorer at GET /graphql; it loads from Apollo's servers, so production leaves it off. */
  readonly landing_page: boolean;
}

export interface Server {
  /** Resolves with the address once it listens. Port 0 takes any that is free. */
  listen(host: string, port: number): Promise<string>;
  /** Takes nothing new, lets what runs come to its end, says goodbye to the sockets. */
  close(): Promise<void>;
}

const GRAPHQL_PATH = '/graphql';

export async function openServer(options: ServerOptions): Promise<Server> {
  const { graph, callers, logger } = options;
  const app = Fastify({
    ...doorServerOptions,
    loggerInstance: logger as FastifyBaseLogger,
    // URLs may carry slice tokens: no request is logged by itself.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: limits.request_bytes_max,
  });
  let closing = false;
  // A connection whose answer comes after `close` would stay open, idle, for as long as keep-alive lasts: 72 s.
  app.addHook('onSend', async (_request, reply) => {
    if (closing) reply.header('connection', 'close');
  });
  // And so would one whose answer had begun before, a stream.
  app.addHook('onResponse', async () => {
    if (closing) setImmediate(() => app.server.closeIdleConnections());
  });
  const unused = unusedConnections(app.server);
  const apollo = apolloServer(options);
  await apollo.start();
  await app.register(async scope => {
    scope.setErrorHandler((error: FastifyError, _request, reply) => answerFault(error, reply, logger));
    await scope.register(fastifyApollo(apollo), {
      path: GRAPHQL_PATH,
      context: request => contextFor(request, options),
    });
  });
  await options.routes?.(app);
  const subscriptions = serveSubscriptions(app.server, { graph, callers, logger, path: GRAPHQL_PATH });
  return {
    listen: (host, port) => app.listen({ host, port }),
    async close() {
      closing = true;
      // Open sockets would keep the HTTP server from closing.
      await subscriptions.close();
      for (const socket of unused) socket.destroy();
      await app.close();
      await apollo.stop();
    },
  };
}

/** Connections over which nothing was asked yet. Node counts them as busy: a closing server would wait for them for ever. */
function unusedConnections(server: HttpServer): ReadonlySet<Socket> {
  const unused = new Set<Socket>();
  server.on('connection', socket => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', request => unused.delete(request.socket));
  return unused;
}

function apolloServer({ graph, logger, landing_page }: ServerOptions): ApolloServer<Context> {
  return new ApolloServer<Context>({
    gateway: graph.gateway,
    validationRules: [...graph.rules],
    parseOptions: { maxTokens: limits.graphql_tokens_max },
    // One of the graph's own rules refuses it where it is off.
    introspection: true,
    csrfPrevention: true,
    persistedQueries: false,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    logger,
    formatError: (_formatted, error) => publicError(error, logger).toJSON(),
    plugins: [
      httpAnswer(logger),
      landing_page ? ApolloServerPluginLandingPageLocalDefault() : ApolloServerPluginLandingPageDisabled(),
      // Nothing about this host or its callers goes to Apollo.
      ApolloServerPluginUsageReportingDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginCacheControlDisabled(),
    ],
  });
}

async function contextFor(request: FastifyRequest, { createContext, logger }: ServerOptions): Promise<Context> {
  try {
    return await createContext(request);
  } catch (error) {
    throw contextFault(error, logger);
  }
}

/** Fastify's own faults on /graphql (a body too large, of another type, no JSON), in GraphQL's form. */
function answerFault(error: FastifyError, reply: FastifyReply, logger: Logger): FastifyReply {
  const code = error.statusCode ? faults[error.statusCode] : undefined;
  const fault = publicError(code ? new Refusal(code) : error, logger);
  return reply.code(Number(fault.extensions.status)).send({ errors: [fault] });
}

const faults: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_request',
  413: 'request_too_large',
  415: 'unsupported_media_type',
};
