import { ApolloServer, type ApolloServerOptionsWithGateway } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import fastifyApollo from '@as-integrations/fastify';
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { headerFaultOnGraph } from '../../rest-compat/door-request.ts';
import { expectedBytes, leavesUnread } from '../../rest-compat/http/body.ts';
import type { Port } from '../../rest-compat/port.ts';
import { Refusal } from '../../schema/errors.ts';
import { findExceededBound, repeatedMember } from '../../schema/json-bounds.ts';
import { jsonText } from '../../schema/json-text.ts';
import { limits } from '../../schema/limits.ts';
import type { Context } from '../../subgraphs/context.ts';
import { validationOptions } from '../graph/documents.ts';
import type { Graph } from '../graph/open-graph.ts';
import { publicError } from '../graph/public-error.ts';
import { SERVER_TIMING, timeWhole } from '../operations/requests.ts';
import type { EventStreams } from '../sockets/serve-events.ts';
import { leaveSecretsAlone } from './compression.ts';
import {
  answerFault,
  answerInEvents,
  contextFault,
  graphqlForms,
  httpAnswer,
  refuse,
  refuseTooMany,
  refuseUnacceptable,
  streamForms,
} from './graphql-answer.ts';
import { knownDocument, paidFieldOf, requestFaults } from './graphql-request.ts';
import { serveEventStreams, streamSubscriptions } from './serve-event-streams.ts';
import { servePages } from './serve-pages.ts';

export const GRAPHQL_PATH = '/graphql';

const EVENTS_PATH = `${GRAPHQL_PATH}/stream`;

export interface GraphqlOptions {
  readonly graph: Graph;
  /** Called once per request to /graphql. A Refusal that it throws sets the status of the response. */
  createContext(request: FastifyRequest): Promise<Context>;
  /** Called for each /graphql response that was sent completely. */
  onResponse?(answer: { readonly request: FastifyRequest; readonly status: number }): void;
  /** Limits free queries. Omitted: no limit. */
  readonly rates?: Port['rates'];
  /** Limits requests to /graphql per address. Omitted: no limit. */
  readonly bodies?: BodyBounds;
  readonly logger: Logger;
  /** Serves GraphiQL to browsers at GET /graphql. It is useful where introspection is on. */
  readonly graphiql: boolean;
}

/** Serves GraphQL over HTTP in a separate scope of Fastify. */
export async function serveGraphql(
  scope: FastifyInstance,
  apollo: ApolloServer<Context>,
  options: GraphqlOptions & { readonly streams: EventStreams },
): Promise<void> {
  const { graph, logger, bodies } = options;
  answerOptions(scope, 'GET, POST');
  answerInEvents(scope, GRAPHQL_PATH);
  if (bodies) boundBodies(scope, bodies, logger);
  parseWithinBounds(scope);
  scope.setErrorHandler((error: FastifyError, _request, reply) => answerFault(error, reply, logger));
  // The Server-Timing header is set at this point only if times may be reported. A refused query is part of a response, which has
  // the header.
  scope.addHook('onSend', (_request, reply, _payload, done) => {
    if (reply.hasHeader(SERVER_TIMING)) timeWhole(reply);
    // If Apollo refuses before it has a query, `httpAnswer` does not run and the header is missing.
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
    done();
  });
  scope.addHook('onResponse', (request, { raw, statusCode: status }, done) => {
    if (raw.writableFinished) options.onResponse?.({ request, status });
    done();
  });
  scope.addHook('preHandler', async (request, reply) => {
    leaveSecretsAlone(request, graph);
    const turn = paidFieldOf(request, graph) === null ? options.rates?.take('free', request.ip) : undefined;
    reply.headers(turn?.headers ?? {});
    if (turn?.kind === 'beyond') return refuseTooMany(turn.retry_after_seconds, request, reply, logger);
    const unread = headerFaultOnGraph(request.headers);
    if (unread !== null) throw new Refusal('invalid_request', unread);
    const faults = requestFaults(request, graph);
    if (faults.length > 0) return refuse(request, reply, faults, logger);
  });
  servePages(scope, GRAPHQL_PATH, options);
  refuseUnacceptable(scope, { [GRAPHQL_PATH]: graphqlForms, [EVENTS_PATH]: streamForms }, logger);
  streamSubscriptions(scope, GRAPHQL_PATH, options);
  serveEventStreams(scope, EVENTS_PATH, options);
  await scope.register(fastifyApollo(apollo), {
    path: GRAPHQL_PATH,
    context: request => contextFor(request, options),
  });
}

const TOO_MUCH = `The body may be nested at most ${limits.json_depth_max} levels deep and have at most ${limits.json_members_max} members.`;

/** Checks the limits of the body before JSON.parse, as for REST endpoints. */
function parseWithinBounds(scope: FastifyInstance): void {
  const parse = scope.getDefaultJsonParser('error', 'error');
  scope.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (findExceededBound(body) !== null) return done(new Refusal('invalid_request', { detail: TOO_MUCH }));
    parse(request, body.toString('utf8'), (fault, value) => {
      const repeated = fault === null ? repeatedMember(body, value) : null;
      done(repeated ? new Refusal('invalid_request', repeated) : fault, value);
    });
  });
}

/** Answers OPTIONS before body limits, rates and Apollo (RFC 9110 section 9.3.7). */
function answerOptions(scope: FastifyInstance, methods: string): void {
  scope.addHook('onRequest', (request, reply, done) => {
    if (request.method !== 'OPTIONS') return done();
    if (leavesUnread(request.raw)) reply.header('connection', 'close');
    reply
      .code(204)
      .headers({ allow: `${methods}, OPTIONS`, 'x-content-type-options': 'nosniff' })
      .send();
  });
}

export function apolloServer({ graph, logger }: GraphqlOptions): ApolloServer<Context> {
  return new ApolloServer<Context>({
    gateway: apolloGateway(graph),
    validationRules: [...graph.rules],
    validationOptions,
    parseOptions: { maxTokens: limits.graphql_tokens_max },
    // The graph caches documents, and Apollo gets them from `knownDocument`.
    documentStore: null,
    // A rule of the graph refuses introspection where it is off.
    introspection: true,
    csrfPrevention: { requestHeaders: preflighted },
    persistedQueries: false,
    stringifyResult: jsonText,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    logger,
    formatError: (_formatted, error) => publicError(error, logger).toJSON(),
    plugins: [
      knownDocument(graph),
      httpAnswer(logger),
      ApolloServerPluginLandingPageDisabled(),
      // Disables every plugin that would send data about this host or its callers to Apollo.
      ApolloServerPluginUsageReportingDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginCacheControlDisabled(),
    ],
  });
}

async function contextFor(request: FastifyRequest, { createContext, logger }: GraphqlOptions): Promise<Context> {
  try {
    return await createContext(request);
  } catch (error) {
    throw contextFault(error, logger);
  }
}

/**
 * Headers that a page of another site cannot send without a preflight (Fetch, CORS-safelisted request-header), so a query by GET
 * with one of them was intended. They are Apollo's two, and credentials, because urql uses GET by default. `authorization` is not
 * among them, because browsers add it to requests of any site if a proxy has required a password.
 */
const preflighted = [
  'x-apollo-operation-name',
  'apollo-require-preflight',
  'x-svc-session',
  'x-svc-proof',
  'x-api-key',
];

/** The form in which Apollo Server accepts a gateway. */
type ServerGateway = ApolloServerOptionsWithGateway<Context>['gateway'];
/** GraphQL responses omit no null. */
const ALL_NULLS = {};
type Listener = Parameters<ServerGateway['onSchemaLoadOrUpdate']>[0];

/**
 * The graph in the form that Apollo Server accepts. The class ApolloGateway is not used. Its constructor starts to report this host
 * to Apollo's servers unless the environment forbids it, and REST and subscriptions cannot use its plans. Planner and executor are
 * Apollo's.
 */
function apolloGateway(graph: Pick<Graph, 'schema' | 'supergraph' | 'execute'>): ServerGateway {
  const listeners = new Set<Listener>();
  return {
    onSchemaLoadOrUpdate(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async load() {
      for (const listener of listeners) listener({ apiSchema: graph.schema, coreSupergraphSdl: graph.supergraph });
      return {
        executor: ({ document, request, context }) =>
          graph.execute({
            document,
            operationName: request.operationName,
            variables: request.variables ?? {},
            context,
            written: ALL_NULLS,
          }),
      };
    },
    async stop() {
      listeners.clear();
    },
  };
}

interface BodyBounds {
  readonly rates: Pick<Port['rates'], 'hold' | 'body_limit_headers'>;
  /** Whether the request has a payment that its payer has signed. Such a caller is not limited per address. */
  pays(request: FastifyRequest): Promise<boolean>;
}

const RETRY_SECONDS = 1;

/**
 * Reserves memory for a body per address before it is read, as for REST endpoints. The reservation ends when the body has been read
 * or the request is abandoned.
 */
function boundBodies(scope: FastifyInstance, { rates, pays }: BodyBounds, logger: Logger): void {
  const held = new WeakMap<FastifyRequest, () => void>();
  scope.addHook('onRequest', async (request, reply) => {
    const bytes = expectedBytes(request.raw, limits.request_bytes_max);
    const release = bytes === 0 ? () => {} : rates.hold(request.ip, bytes);
    if (release) {
      held.set(request, release);
      reply.raw.once('close', () => giveBack(held, request));
    } else if (!(await pays(request)))
      return refuseTooMany(
        RETRY_SECONDS,
        request,
        reply.headers({ ...rates.body_limit_headers, connection: 'close' }),
        logger,
      );
  });
  scope.addHook('preHandler', (request, _reply, done) => {
    giveBack(held, request);
    done();
  });
}

function giveBack(held: WeakMap<FastifyRequest, () => void>, request: FastifyRequest): void {
  held.get(request)?.();
  held.delete(request);
}
