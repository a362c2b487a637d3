import type { Logger } from 'pino';
import { credentialsIn } from '../rest-compat/credentials.ts';
import { everyDoor } from '../rest-compat/doors/every.ts';
import { serveDoors } from '../rest-compat/serve.ts';
import type { Principal } from '../schema/principal.ts';
import { type BookContext } from '../subgraphs/book/index.ts';
import { type PresentedPayment, ResponseHeaders } from '../subgraphs/context.ts';
import { type InferenceContext, type ReceiptContext } from '../subgraphs/receipt/index.ts';
import { type SessionContext, sealDecoy } from '../subgraphs/session/index.ts';
import { Closing } from './closing.ts';
import type { Config } from './config.ts';
import { openSources } from './graph/remote/open-sources.ts';
import { health } from './health.ts';
import { exposeMetrics } from './operations/exposure.ts';
import type { Operations } from './operations/open.ts';
import { presentedIn } from './payment/headers.ts';
import { openPort } from './port.ts';
import { identify, openKeyring } from './principal.ts';
import { openServer } from './server.ts';
import { subgraphs } from './subgraphs.ts';
import { openGraph } from './supergraph.ts';

/** Everything that a resolver of any subgraph may ask of this process. */
type EveryContext = ReceiptContext & InferenceContext & BookContext & SessionContext;
export type EveryService = Omit<EveryContext, 'principal' | 'payment' | 'response'>;

/** What is done with all that was opened; resolves with the address once it is served. */
export type Serve = (config: Config, services: EveryService, serving: Serving) => Promise<string>;

export interface Serving {
  readonly logger: Logger;
  readonly closing: Closing;
  readonly operations: Operations;
  health(): ReturnType<typeof health>;
  away(): Promise<readonly string[]>;
}

/** Graph, doors and sockets on one port. */
export async function serve(
  config: Config,
  services: EveryService,
  { logger, closing, operations, health, away }: Serving,
): Promise<string> {
  const sources = closing.add(
    openSources({ ...services, urls: config.subgraph_urls, secret: config.subgraph_secret }),
    it => it.close(),
  );
  const { sourceOf } = sources;
  const graph = await openGraph(await subgraphs(), {
    logger,
    introspection: (config.introspection ?? (config.profile === 'development' ? 'on' : 'off')) === 'on',
    sourceOf,
  });
  const keyring = openKeyring({ live: config.api_keys, demo: config.demo_keys, waiver: config.waiver_keys });
  const identified = { ...services, keyring, decoy: sealDecoy(services) };
  const createContext = (principal: Principal, payment: PresentedPayment | null): EveryContext => ({
    ...services,
    principal,
    payment,
    response: new ResponseHeaders(),
  });
  const port = openPort({
    graph,
    base_url: config.base_url,
    pay_to: { base: config.pay_to_base },
    identify: shown => identify(shown, identified),
    createContext,
    health,
    away,
  });
  const server = await openServer({
    graph,
    logger,
    requests: operations.requests,
    tally: operations.sockets,
    landing_page: config.profile === 'development',
    async routes(app) {
      exposeMetrics(app, operations.metrics, operations.exposure);
      await serveDoors(app, port, everyDoor);
    },
    callers: {
      identify: ({ session, address }) => identify({ session, address, proof: null, api_key: null }, identified),
      createContext: principal => createContext(principal, null),
      watchSessions: watcher => services.live.watchSessions(watcher),
      heard: () => services.live.heard(),
    },
    async createContext(request) {
      const credentials = credentialsIn(request.headers, {}, null, request.ip);
      return createContext(await identify(credentials, identified), presentedIn(credentials.payment));
    },
  });
  closing.add(server, it => it.close());
  await server.listen(config.host, config.port);
  return config.base_url;
}
