import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { credentialsIn, paymentIn } from '../../rest-compat/credentials.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { originsOf } from '../../rest-compat/http/cors.ts';
import type { Port } from '../../rest-compat/port.ts';
import { serveDoors } from '../../rest-compat/serve.ts';
import type { Principal } from '../../schema/principal.ts';
import { type BookContext } from '../../subgraphs/book/context.ts';
import { type Brought, ResponseHeaders } from '../../subgraphs/context.ts';
import { type ReceiptContext } from '../../subgraphs/receipt/context.ts';
import { type InferenceContext } from '../../subgraphs/receipt/inference/context.ts';
import { type SessionContext } from '../../subgraphs/session/context.ts';
import { sealDecoy } from '../../subgraphs/session/possession/check.ts';
import type { Judge } from '../charge/judge.ts';
import type { Config } from '../config/read-config.ts';
import { paidFieldOf } from '../graph/first-look.ts';
import { identify, openKeyring, type Shown } from '../graph/identify.ts';
import { type Graph, openGraph } from '../graph/open-graph.ts';
import { provenOnGraphql } from '../graph/proven-request.ts';
import { openSources } from '../graph/remote/open-sources.ts';
import { exposeMetrics } from '../operations/exposure.ts';
import { health } from '../operations/health.ts';
import { listenFault } from '../operations/listen-fault.ts';
import type { Operations } from '../operations/open.ts';
import { trusting } from '../rates/client-address.ts';
import { requireWithin } from '../rates/free-uses.ts';
import { keepProof } from '../sockets/keep-proof.ts';
import type { SocketCallers } from '../sockets/serve-sockets.ts';
import { subgraphs } from '../subgraphs.ts';
import { openExtensions } from '../x402/extensions/open-extensions.ts';
import type { PayTo } from '../x402/offer.ts';
import { presentedIn } from '../x402/payment-header.ts';
import { openPort } from './port.ts';
import { openServer, type ServerOptions } from './server.ts';

/** Everything that a resolver of any subgraph may ask of this process. */
type EveryContext = ReceiptContext & InferenceContext & BookContext & SessionContext;
export type EveryService = Omit<EveryContext, 'principal' | 'response' | keyof Brought>;

/** What is done with all that was opened; resolves with the address once it is served. */
export type Serve = (config: Config, services: EveryService, serving: Serving) => Promise<string>;

export interface Serving {
  readonly pay_to: PayTo;
  readonly judge: Judge;
  readonly rates: Port['rates'];
  readonly logger: Logger;
  readonly closing: AsyncDisposableStack;
  readonly operations: Operations;
  health(): ReturnType<typeof health>;
  away(): Promise<readonly string[]>;
  without(): readonly string[];
}

/** Graph, doors and sockets on one port. */
export async function serve(config: Config, services: EveryService, serving: Serving): Promise<string> {
  const { logger, closing, operations, rates, health, away, without } = serving;
  const { graph, beginUpload } = await openServedGraph(config, services, serving);
  const { known, contextOf } = callersOf(config, services, rates);
  const port = openPort({
    graph,
    base_url: config.base_url,
    pay_to: serving.pay_to,
    extensions: openExtensions(services.issuer, services.clock),
    judge: serving.judge,
    rates,
    identify: known,
    createContext: contextOf,
    beginUpload,
    health,
    away,
    without,
  });
  const server = await openServer({
    graph,
    logger,
    requests: operations.requests,
    tally: operations.sockets,
    landing_page: config.profile === 'development',
    trust: trusting(config.trusted_proxies),
    origins: originsOf(config.cors_origins),
    rates,
    bodies: { rates, pays: request => pays(request, serving.judge) },
    async routes(app) {
      exposeMetrics(app, operations.metrics, operations.exposure);
      await serveDoors(app, port, everyDoor);
    },
    callers: onSockets(services, known, contextOf),
    ...onGraphql(graph, serving, { known, contextOf }),
  });
  closing.adopt(server, it => it.close());
  await server.listen(config.host, config.port).catch(async error => {
    throw await listenFault(error, config);
  });
  return config.base_url;
}

const REJECTED = 402;

/** As at the doors a turn is spent before the code at a payer's address is asked, and given back unless that says no. */
function onGraphql(
  graph: Graph,
  serving: Serving,
  { known, contextOf }: ReturnType<typeof callersOf>,
): Pick<ServerOptions, 'createContext' | 'answered'> {
  const in_doubt = new WeakSet<FastifyRequest>();
  return {
    async createContext(request) {
      const { shown, pays, unproven, ...brought } = await broughtBy(request, graph, serving);
      if (unproven) in_doubt.add(request);
      return contextOf(await known(shown, pays), brought);
    },
    answered({ request, status }) {
      if (in_doubt.has(request) && status !== REJECTED) serving.rates.giveBack('unproven', request.ip);
    },
  };
}

const nothingBrought: Brought = { payment: null, router_key: null, redelivery: null, idempotency_key: null };

/** Whoever opens a socket brings nothing along to pay with. */
function onSockets(
  services: EveryService,
  known: ReturnType<typeof callersOf>['known'],
  contextOf: ReturnType<typeof callersOf>['contextOf'],
): SocketCallers {
  return {
    identify: shown => known(shown, false),
    keep: (shown, possession) => keepProof(shown, possession, services),
    createContext: principal => contextOf(principal, nothingBrought),
    watchSessions: watcher => services.live.watchSessions(watcher),
    heard: () => services.live.heard(),
  };
}

/** What a request to /graphql brings, and by what its caller is known. */
async function broughtBy(
  request: FastifyRequest,
  graph: Graph,
  { judge, rates }: Pick<Serving, 'judge' | 'rates'>,
): Promise<Brought & { readonly shown: Shown; readonly pays: boolean; readonly unproven: boolean }> {
  const credentials = credentialsIn(request.headers, {}, provenOnGraphql(request), request.ip);
  const { router_key, redelivery, idempotency_key } = credentials;
  const payment = presentedIn(credentials.payment);
  const field = payment && paidFieldOf(request, graph);
  const worth = payment && field && (await judge.weigh(payment, field));
  const rejected = worth === 'rejected';
  if (rejected || worth === 'unproven') requireWithin(rates.take('unproven', request.ip));
  // The resolver says so in its own words, and the database is not asked who hears them.
  const shown = rejected ? { ...credentials, session: null, proof: null } : credentials;
  const brought = { payment, router_key, redelivery, idempotency_key };
  const pays = payment !== null && field !== null && !rejected;
  return { ...brought, shown, pays, unproven: worth === 'unproven' };
}

/** The graph, and the way by which a file comes to where it is worked for. */
async function openServedGraph(
  { subgraph_urls, subgraph_secret, introspection, proof_writes, profile }: Config,
  { clock, random, uploads }: EveryService,
  { logger, closing }: Serving,
): Promise<{ readonly graph: Graph; readonly beginUpload: Port['beginUpload'] }> {
  const sources = closing.adopt(openSources({ urls: subgraph_urls, secret: subgraph_secret, clock, random }), it =>
    it.close(),
  );
  const graph = await openGraph(await subgraphs(), {
    logger,
    introspection: (introspection ?? (profile === 'development' ? 'on' : 'off')) === 'on',
    proof_writes,
    sourceOf: sources.sourceOf,
  });
  const id = () => Buffer.from(random.bytes(16)).toString('hex');
  return {
    graph,
    beginUpload: sender => sources.beginUpload('receipt', uploads, sender) ?? uploads.begin(id(), sender),
  };
}

/** Whether it shows a payment that its payer has signed, for whatever is sold here. */
async function pays({ headers }: FastifyRequest, judge: Judge): Promise<boolean> {
  const payment = presentedIn(paymentIn(headers));
  return payment !== null && judge.isProven(payment);
}

/** What is shown opens nothing and stands in for nothing. */
function isNobodys({ possession, api_key }: Principal): boolean {
  return possession.kind === 'wrong' || api_key.kind === 'unknown';
}

/** Who is calling, by what he shows; and what every resolver may ask for him. */
function callersOf({ api_keys, demo_keys, waiver_keys }: Config, services: EveryService, rates: Port['rates']) {
  const keyring = openKeyring({ live: api_keys, demo: demo_keys, waiver: waiver_keys });
  const checks = { ...services, keyring, decoy: sealDecoy(services) };
  return {
    async known(shown: Shown, pays: boolean) {
      const principal = await identify(shown, checks);
      // Whoever shows what is his is never held up by others behind his address.
      const turn = isNobodys(principal) ? rates.take('credentials', shown.address) : null;
      if (turn && !pays) requireWithin(turn);
      return principal;
    },
    contextOf: (principal: Principal, brought: Brought): EveryContext => ({
      ...services,
      ...brought,
      principal,
      response: new ResponseHeaders(),
    }),
  };
}
