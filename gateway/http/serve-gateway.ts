import { flushCompileCache } from 'node:module';
import type { Logger } from 'pino';
import { doorsWith } from '../../rest-compat/every-door.ts';
import { serveMcp } from '../../rest-compat/faces/mcp/serve-mcp.ts';
import { originsOf } from '../../rest-compat/http/cors.ts';
import { notOfferedAt } from '../../rest-compat/inference/not-offered.ts';
import type { Port } from '../../rest-compat/port.ts';
import { serveDoors } from '../../rest-compat/serve.ts';
import { openBoardVersion } from '../../subgraphs/board/event/read.ts';
import type { Judge } from '../call/judge.ts';
import { compileTrust } from '../config/forms.ts';
import type { Config } from '../config/read-config.ts';
import { simulatedNetworks } from '../config/substitutes.ts';
import type { Feature } from '../features/feature.ts';
import { type Graph, openGraph } from '../graph/open-graph.ts';
import { openSources, type RemoteStandings } from '../graph/remote/open-sources.ts';
import type { health } from '../operations/health.ts';
import { exposeMetrics } from '../operations/metrics.ts';
import type { Operations } from '../operations/open.ts';
import { whenIdle } from '../operations/paid-calls.ts';
import { listenFault } from '../operations/start-faults.ts';
import { subgraphs } from '../parts.ts';
import { verifierProgram } from '../verifier-page/program.ts';
import { openExtensions } from '../x402/extensions.ts';
import type { PayTo } from '../x402/offer.ts';
import { callersOnGraphql, callersOnSockets, type EveryService, openCallers, showsPayment } from './callers.ts';
import { openFollow, openPort } from './door-port.ts';
import { openToolSessions, openUnpaidRequests } from './sealed-ids.ts';
import { securityContact } from './security-contact.ts';
import { openServer } from './server.ts';

/** Serves the opened parts. Resolves with the address when requests are accepted. */
export type Serve = (config: Config, services: EveryService, serving: ServeParts) => Promise<string>;

export interface ServeParts {
  readonly pay_to: PayTo;
  readonly judge: Judge;
  readonly rates: Port['rates'];
  readonly logger: Logger;
  readonly closing: AsyncDisposableStack;
  readonly operations: Operations;
  readonly standings: RemoteStandings;
  health(): ReturnType<typeof health>;
  missingNeeds(): Promise<readonly string[]>;
  missingLanes(): readonly string[];
  readonly features: readonly Feature[];
  /** Text of a supergraph that is composed of the subgraphs with these features. Default: the committed supergraph. */
  readonly supergraph?: string;
}

/** Serves graph, REST endpoints and sockets on one port. */
export async function serveGateway(config: Config, services: EveryService, serving: ServeParts): Promise<string> {
  const { logger, closing, operations, rates, health, missingNeeds, missingLanes } = serving;
  const { graph, beginUpload } = await openServedGraph(config, services, serving);
  const callers = openCallers(config, services, rates);
  const port = openPort({
    graph,
    base_url: config.base_url,
    simulated_networks: simulatedNetworks(config.stand_ins),
    security: securityContact(config.security_contact, config.base_url, services.clock.now_ms()),
    pay_to: serving.pay_to,
    extensions: openExtensions(services.issuer, services.clock),
    judge: serving.judge,
    rates,
    ...callers,
    beginUpload,
    boardVersion: openBoardVersion(services.database),
    signCard: card => services.issuer.signCard(card),
    verifierProgram,
    unpaid_requests: openUnpaidRequests(services),
    tool_sessions: openToolSessions(services),
    health,
    away: missingNeeds,
    without: missingLanes,
  });
  const doors = doorsWith(serving.features.map(({ name }) => name));
  const server = await openServer({
    graph,
    logger,
    requests: operations.requests,
    tally: operations.sockets,
    precedence: operations.precedence,
    graphiql: introspects(config),
    trust: compileTrust(config.trusted_proxies),
    origins: originsOf(config.cors_origins),
    rates,
    bodies: { rates, pays: request => showsPayment(request, serving.judge) },
    async routes(app, streams) {
      exposeMetrics(app, operations.metrics, operations.exposure);
      const doors_port = { ...port, follow: openFollow(streams) };
      await serveMcp(app, { port: doors_port, doors }, originsOf(config.cors_origins));
      await serveDoors(app, doors_port, doors, notOfferedAt);
    },
    callers: callersOnSockets(callers, services),
    ...callersOnGraphql(graph, callers, serving),
  });
  closing.adopt(server, it => it.close());
  await server.listen(config.host, config.port).catch(async error => {
    throw await listenFault(error, config);
  });
  const preparing = whenIdle(rest => prepareGraph(graph, rest), {
    isPaying: () => operations.paid_calls.underway.length > 0,
    onFailure: error =>
      logger.error(
        { err: error },
        'the query planner could not be prepared in advance because of the error in err; the first requests take longer',
      ),
  });
  closing.adopt(preparing, it => it.stop());
  return config.base_url;
}

async function prepareGraph(graph: Graph, rest: () => Promise<void>): Promise<void> {
  await graph.prepare(rest);
  await rest();
  // Stores V8's code cache of the modules that were loaded until now, for the next start. launch.js has stored the cache of the
  // others.
  flushCompileCache();
}

function introspects({ introspection, profile }: Config): boolean {
  return (introspection ?? (profile === 'development' ? 'on' : 'off')) === 'on';
}

/** Opens the graph, and the function by which files are sent to the subgraph that uses them. */
async function openServedGraph(
  config: Config,
  { clock, random, uploads }: EveryService,
  { logger, closing, standings, features, supergraph }: ServeParts,
): Promise<{ readonly graph: Graph; readonly beginUpload: Port['beginUpload'] }> {
  const { subgraph_urls, subgraph_secret, proof_writes } = config;
  const remotes = { urls: subgraph_urls, secret: subgraph_secret, clock, random, standings };
  const sources = closing.adopt(openSources(remotes), it => it.close());
  const graph = await openGraph(await subgraphs(features), {
    logger,
    ...(supergraph !== undefined && { supergraph }),
    introspection: introspects(config),
    proof_writes,
    sourceOf: sources.sourceOf,
  });
  const id = () => Buffer.from(random.bytes(16)).toString('hex');
  return {
    graph,
    beginUpload: sender => sources.beginUpload('receipt', uploads, sender) ?? uploads.begin(id(), sender),
  };
}
