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
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import { type Origins, openToOrigins } from '../../rest-compat/http/cors.ts';
import { answeringFor, doorServerOptions } from '../../rest-compat/http/server-options.ts';
import type { Port } from '../../rest-compat/port.ts';
import { Refusal } from '../../schema/errors.ts';
import { exceededBy } from '../../schema/json-bounds.ts';
import { limits } from '../../schema/limits.ts';
import { jsonText } from '../../schema/written.ts';
import type { Context } from '../../subgraphs/context.ts';
import { type BodyBounds, boundBodies } from '../graph/bound-bodies.ts';
import { validationOptions } from '../graph/documents.ts';
import { firstLook, knownDocument, paidFieldOf } from '../graph/first-look.ts';
import { contextFault, httpAnswer } from '../graph/http-answer.ts';
import type { Graph } from '../graph/open-graph.ts';
import { publicError } from '../graph/public-error.ts';
import { answerFault, refuse, tooMany } from '../graph/refuse.ts';
import { Connections } from '../operations/connections.ts';
import { boundConnections, boundPipelines } from '../operations/floods.ts';
import { requireOneHost } from '../operations/one-host.ts';
import { REQUEST_ID, requestId } from '../operations/request-id.ts';
import type { Requests } from '../operations/requests.ts';
import { SERVER_TIMING, timeWhole } from '../operations/server-timing.ts';
import type { Trust } from '../rates/client-address.ts';
import { type SocketCallers, serveSubscriptions } from '../sockets/serve-sockets.ts';
import { SocketTally } from '../sockets/tally.ts';
import { compressAnswers, leaveSecretsAlone } from './compression.ts';
import { answerOptions } from './server-options.ts';

export interface ServerOptions {
  readonly graph: Graph;
  /** Once per request to /graphql. A Refusal thrown here answers with its own status. */
  createContext(request: FastifyRequest): Promise<Context>;
  /** Hears of each answer of /graphql that has gone out whole. */
  answered?(answer: { readonly request: FastifyRequest; readonly status: number }): void;
  readonly callers: SocketCallers;
  /** Adds everything that is not /graphql, error and not-found handlers included. */
  routes?(app: FastifyInstance): Promise<void>;
  /** Counts and logs every one of them. */
  readonly requests?: Requests;
  readonly tally?: SocketTally;
  /** Whose word for where a request comes from is believed; nobody's unless given. */
  readonly trust?: Trust;
  /** Whose pages may call; nobody's unless given. */
  readonly origins?: Origins;
  /** Bounds what is asked for free, unless left out. */
  readonly rates?: Port['rates'];
  /** Bounds what comes to /graphql by address, unless left out. */
  readonly bodies?: BodyBounds;
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
  const { graph, callers, logger, requests, origins = new Set() } = options;
  const app = Fastify({
    ...doorServerOptions,
    ...answeringFor(origins),
    loggerInstance: logger as FastifyBaseLogger,
    // URLs may carry slice tokens: no request is logged by itself.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: requestId,
    bodyLimit: limits.request_bytes_max,
    trustProxy: options.trust ?? false,
  });
  boundConnections(app.server);
  requests?.observe(app);
  boundPipelines(app);
  openToOrigins(app, origins);
  requireOneHost(app);
  const hangUp = hangingUp(app);
  const apollo = apolloServer(options);
  await apollo.start();
  await compressAnswers(app);
  await app.register(scope => serveGraphql(scope, apollo, options));
  await app.register(scope => serveRoutes(scope, options));
  const { tally = new SocketTally(), trust, rates } = options;
  const path = GRAPHQL_PATH;
  const subscriptions = serveSubscriptions(app.server, { graph, callers, logger, tally, path, trust, rates });
  return {
    listen: (host, port) => app.listen({ host, port }),
    async close() {
      // Open sockets would keep the HTTP server from closing.
      await Promise.all([hangUp(), subscriptions.close()]);
      await app.close();
      await apollo.stop();
    },
  };
}

async function serveGraphql(
  scope: FastifyInstance,
  apollo: ApolloServer<Context>,
  options: ServerOptions,
): Promise<void> {
  const { graph, logger, bodies } = options;
  answerOptions(scope, 'GET, POST');
  if (bodies) boundBodies(scope, bodies, logger);
  parseWithinBounds(scope);
  scope.setErrorHandler((error: FastifyError, _request, reply) => answerFault(error, reply, logger));
  // Where it may be told how long it took, the header is there by now: what a query was refused is inside its answer.
  scope.addHook('onSend', (_request, reply, _payload, done) => {
    if (reply.hasHeader(SERVER_TIMING)) timeWhole(reply);
    // What Apollo refuses before it has a query says nothing of it.
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
    done();
  });
  scope.addHook('onResponse', (request, { raw, statusCode: status }, done) => {
    if (raw.writableFinished) options.answered?.({ request, status });
    done();
  });
  scope.addHook('preHandler', async (request, reply) => {
    leaveSecretsAlone(request, graph);
    const turn = paidFieldOf(request, graph) === null ? options.rates?.take('free', request.ip) : undefined;
    reply.headers(turn?.headers ?? {});
    if (turn?.kind === 'beyond') return tooMany(turn.retry_after_seconds, request, reply, logger);
    const faults = firstLook(request, graph);
    if (faults.length > 0) return refuse(request, reply, faults, logger);
  });
  await scope.register(fastifyApollo(apollo), {
    path: GRAPHQL_PATH,
    context: request => contextFor(request, options),
  });
}

const TOO_MUCH = `At most ${limits.json_depth_max} objects and lists in each other, ${limits.json_members_max} members in all.`;

/** JSON.parse comes after a look at how much there is to it, as at the doors. */
function parseWithinBounds(scope: FastifyInstance): void {
  const parse = scope.getDefaultJsonParser('error', 'error');
  scope.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (exceededBy(body) !== null) done(new Refusal('invalid_request', { detail: TOO_MUCH }));
    else parse(request, body.toString('utf8'), done);
  });
}

async function serveRoutes(scope: FastifyInstance, options: ServerOptions): Promise<void> {
  scope.addHook('onSend', (_request, reply, _payload, done) => {
    timeWhole(reply);
    done();
  });
  await options.routes?.(scope);
}

/**
 * Every answer names its request. The result stops listening at once and resolves when the last answer is out: what comes
 * meanwhile over a connection that was open is answered too, and its connection closed.
 */
function hangingUp(app: FastifyInstance): () => Promise<void> {
  let closing = false;
  const connections = new Connections(app.server);
  app.addHook('onSend', (request, reply, _payload, done) => {
    reply.header(REQUEST_ID, request.id);
    // Else it would stay open, idle, for as long as keep-alive lasts: 72 s.
    if (closing) reply.header('connection', 'close');
    done();
  });
  // And so would one whose answer had begun before, a stream.
  app.addHook('onResponse', (_request, _reply, done) => {
    if (closing) setImmediate(() => app.server.closeIdleConnections());
    done();
  });
  return async () => {
    closing = true;
    const closed = new Promise(resolve => app.server.close(resolve));
    connections.dropUnused();
    const late = setTimeout(() => connections.dropUnasked(), limits.request_ms_max);
    await closed;
    clearTimeout(late);
  };
}

function apolloServer({ graph, logger, landing_page }: ServerOptions): ApolloServer<Context> {
  return new ApolloServer<Context>({
    gateway: graph.gateway,
    validationRules: [...graph.rules],
    validationOptions,
    parseOptions: { maxTokens: limits.graphql_tokens_max },
    // The graph keeps documents, and hands over those that it knows.
    documentStore: null,
    // One of the graph's own rules refuses it where it is off.
    introspection: true,
    csrfPrevention: true,
    persistedQueries: false,
    stringifyResult: jsonText,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    logger,
    formatError: (_formatted, error) => publicError(error, logger).toJSON(),
    plugins: [
      knownDocument(graph),
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
