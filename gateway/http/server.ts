import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { spends } from '../../rest-compat/credentials.ts';
import { type Origins, openToOrigins } from '../../rest-compat/http/cors.ts';
import { badRequestHandlers, doorServerOptions } from '../../rest-compat/http/server-options.ts';
import { problem } from '../../rest-compat/problem.ts';
import { holderOf } from '../../schema/address-holder.ts';
import { limits } from '../../schema/limits.ts';
import type { Trust } from '../config/forms.ts';
import { boundConnections, boundPipelines, Connections, requireOneHost } from '../operations/connections.ts';
import { SocketTally } from '../operations/metrics.ts';
import { Precedence } from '../operations/precedence.ts';
import { PROBES, REQUEST_ID, type Requests, requestId, timeWhole } from '../operations/requests.ts';
import { spellForwarded } from '../rates/client-address.ts';
import { EventStreams } from '../sockets/serve-events.ts';
import { serveSubscriptions } from '../sockets/serve-sockets.ts';
import { SessionSockets, type SocketCallers } from '../sockets/session-sockets.ts';
import { SharedSubscriptions } from '../sockets/shared-subscriptions.ts';
import { compressAnswers } from './compression.ts';
import { apolloServer, GRAPHQL_PATH, type GraphqlOptions, serveGraphql } from './serve-graphql.ts';

/**
 * Maximum number of connections that wait to be accepted while the process is busy. Node's default of 511 is too small for a
 * thousand calls at once: the system drops the rest and resets them a minute later.
 */
const CONNECTIONS_WAITING_MAX = 4_096;

export interface ServerOptions extends GraphqlOptions {
  readonly callers: SocketCallers;
  /** Adds all routes except /graphql, including the error and not-found handlers. */
  routes?(app: FastifyInstance, streams: EventStreams): Promise<void>;
  /** Counts and logs every request. */
  readonly requests?: Requests;
  readonly tally?: SocketTally;
  /** When each request is served. Default: none is paid for. */
  readonly precedence?: Precedence;
  /** Proxies whose statement of the client's address is trusted; none by default. */
  readonly trust?: Trust;
  /** Origins whose pages may send requests; none by default. */
  readonly origins?: Origins;
}

export interface Server {
  /** Resolves with the address when connections are accepted. With port 0 the system selects a free port. */
  listen(host: string, port: number): Promise<string>;
  /** Accepts no new connections, finishes requests in progress, and closes the sockets. */
  close(): Promise<void>;
}

/**
 * Opens the server of all requests on one port. A request passes, in this order: limits on connections, `/graphql`, REST endpoints,
 * and sockets, which begin as a request.
 */
export async function openServer(options: ServerOptions): Promise<Server> {
  const { graph, callers, logger, requests, origins = new Set() } = options;
  const app = Fastify({
    ...doorServerOptions,
    ...badRequestHandlers(origins),
    loggerInstance: logger as FastifyBaseLogger,
    // URLs may contain slice tokens, so Fastify logs no request.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: requestId,
    bodyLimit: limits.request_bytes_max,
    trustProxy: options.trust ?? false,
  });
  boundConnections(app.server);
  const { trust: believed } = options;
  // This hook must run before any code reads `request.ip`.
  if (believed)
    app.addHook('onRequest', ({ raw }, _reply, done) => {
      spellForwarded(raw, believed);
      done();
    });
  requests?.observe(app);
  boundPipelines(app);
  openToOrigins(app, origins);
  requireOneHost(app);
  const { precedence = new Precedence() } = options;
  letInByTurns(app, precedence);
  const hangUp = closeWhenAnswered(app);
  const apollo = apolloServer(options);
  await apollo.start();
  await compressAnswers(app);
  const { tally = new SocketTally(), trust, rates } = options;
  const sessions = new SessionSockets(callers, logger);
  const shared = new SharedSubscriptions(
    graph,
    () => callers.catchUp(),
    () => precedence.paid > 0,
  );
  const live = { graph, callers, sessions, shared, logger, tally };
  const streams = new EventStreams(live);
  await app.register(scope => serveGraphql(scope, apollo, { ...options, streams }));
  await app.register(scope => serveRoutes(scope, options, streams));
  const subscriptions = serveSubscriptions(app.server, { ...live, path: GRAPHQL_PATH, trust, rates, precedence });
  return {
    listen: (host, port) => app.listen({ host, port, backlog: CONNECTIONS_WAITING_MAX }),
    async close() {
      sessions.close();
      // Open sockets and event streams would prevent the HTTP server from closing.
      streams.close();
      await Promise.all([hangUp(), subscriptions.close()]);
      await app.close();
      await apollo.stop();
    },
  };
}

/**
 * Requests are served by turns of their addresses. A session is no caller of its own here, because it is not verified yet, and a client
 * could send another one with each request.
 */
function letInByTurns(app: FastifyInstance, precedence: Precedence): void {
  app.addHook('onRequest', (request, reply, done) => {
    const presents = spends(request.headers);
    const holder = holderOf(request.ip);
    // A probe does not wait behind the crowd of its address, which behind an unknown proxy is that of everyone.
    const caller = PROBES.has(request.routeOptions.url ?? '') ? `probe of ${holder}` : holder;
    const leave = precedence.enter(caller, presents, done);
    if (leave !== null) {
      reply.raw.once('close', leave);
      return;
    }
    const { status, headers, body } = problem({ code: 'unavailable' }, {}, presents);
    reply
      .code(status)
      .headers({ ...headers, 'x-content-type-options': 'nosniff', connection: 'close' })
      .send(body);
  });
}

async function serveRoutes(scope: FastifyInstance, options: ServerOptions, streams: EventStreams): Promise<void> {
  scope.addHook('onSend', (_request, reply, _payload, done) => {
    timeWhole(reply);
    done();
  });
  await options.routes?.(scope, streams);
}

/**
 * Adds the request's id to each response. The function that it returns stops listening at once and resolves when the last response
 * is sent. Requests that arrive meanwhile on open connections are answered, and their connections closed.
 */
function closeWhenAnswered(app: FastifyInstance): () => Promise<void> {
  let closing = false;
  const connections = new Connections(app.server);
  app.addHook('onSend', (request, reply, _payload, done) => {
    reply.header(REQUEST_ID, request.id);
    // Without this header the connection would stay open and idle until keep-alive ends, after 72 s.
    if (closing) reply.header('connection', 'close');
    done();
  });
  // This hook also closes the connection of a response that had begun before, such as a stream.
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
