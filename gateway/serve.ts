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
import { health } from './health.ts';
import { presentedIn } from './payment/headers.ts';
import { openPort } from './port.ts';
import { identify, openKeyring } from './principal.ts';
import { openServer } from './server.ts';
import { subgraphs } from './subgraphs.ts';
import { openGraph } from './supergraph.ts';

/** Everything that a resolver of any subgraph may ask of this process. */
type EveryContext = ReceiptContext & InferenceContext & BookContext & SessionContext;
export type EveryService = Omit<EveryContext, 'principal' | 'payment' | 'response'>;

interface Serving {
  readonly logger: Logger;
  readonly closing: Closing;
  health(): ReturnType<typeof health>;
}

/** Graph, doors and sockets on one port. */
export async function serve(
  config: Config,
  services: EveryService,
  { logger, closing, health }: Serving,
): Promise<string> {
  const graph = await openGraph(await subgraphs(), { logger, introspection: config.profile === 'development' });
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
  });
  const server = await openServer({
    graph,
    logger,
    landing_page: config.profile === 'development',
    routes: app => serveDoors(app, port, everyDoor),
    callers: {
      identify: ({ session, address }) => identify({ session, address, proof: null, api_key: null }, identified),
      createContext: principal => createContext(principal, null),
      watchSessions: ended => services.live.watchSessions(ended),
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
