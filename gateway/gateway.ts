import type { Logger } from 'pino';
import { credentialsIn } from '../rest-compat/credentials.ts';
import { everyDoor } from '../rest-compat/doors/every.ts';
import { serveDoors } from '../rest-compat/serve.ts';
import type { Principal } from '../schema/principal.ts';
import { type BookContext, openBookEvents } from '../subgraphs/book/index.ts';
import { systemClock, systemRandom } from '../subgraphs/clock.ts';
import { type PresentedPayment, ResponseHeaders } from '../subgraphs/context.ts';
import { openLive } from '../subgraphs/live.ts';
import {
  findTask,
  type InferenceContext,
  openHubs,
  openIssuer,
  type ReceiptContext,
} from '../subgraphs/receipt/index.ts';
import { openVault } from '../subgraphs/vault.ts';
import { Closing } from './closing.ts';
import type { Config } from './config.ts';
import { health } from './health.ts';
import { openBase } from './payment/base/open-base.ts';
import { openCharge } from './payment/charge.ts';
import { presentedIn } from './payment/headers.ts';
import { type OpenSettling, openOwnSettling, openTill } from './payment/open-till.ts';
import { openReconciler } from './payment/reconcile.ts';
import { type Faults, noFaults } from './payment/till.ts';
import { openPort } from './port.ts';
import { identify, openKeyring } from './principal.ts';
import { openLog } from './receipt-log.ts';
import { openServer } from './server.ts';
import { openStore } from './store.ts';
import { subgraphs } from './subgraphs.ts';
import { openGraph } from './supergraph.ts';

export interface Gateway {
  readonly url: string;
  /** Finishes what is in flight, then lets go of everything, in the reverse order of opening. */
  close(): Promise<void>;
}

export interface GatewayOptions {
  readonly logger: Logger;
  readonly faults?: Faults;
  readonly openChain?: typeof openBase;
  readonly openSettling?: OpenSettling;
}

/** Everything that a resolver of any subgraph may ask of this process. */
type EveryContext = ReceiptContext & InferenceContext & BookContext;
type EveryService = Omit<EveryContext, 'principal' | 'payment' | 'response'>;

/** The composition root: what is opened here is closed here, and nothing else in the service makes its own. */
export async function openGateway(config: Config, options: GatewayOptions): Promise<Gateway> {
  const { logger, faults = noFaults, openChain = openBase, openSettling = openOwnSettling } = options;
  const closing = new Closing();
  try {
    const database = closing.add(await openStore(config.database_url), store => store.close());
    const issuer = openIssuer(config.issuer_keys, { base_url: config.base_url, now_ms: systemClock.now_ms });
    const saved_head = await openLog(database, config);
    const live = closing.add(await openLive(database), it => it.close());
    const hubs = closing.add(openHubs(config.hubs, { clock: systemClock }), it => it.close());
    const chain = closing.add(openChain({ rpc_url: config.base_rpc_url }), it => it.close());
    const vault = openVault(config.seal_key);

    const till = await openTill({
      config,
      database,
      chain,
      hubs,
      issuer,
      vault,
      saved_head,
      faults,
      logger,
      openSettling,
    });
    closing.add(till, it => it.settler.close());
    closing.add(await openReconciler(till, error => logger.error({ err: error }, 'a round of reconcile failed')), it =>
      it.stop(),
    );

    const services: EveryService = {
      database,
      live,
      vault,
      clock: systemClock,
      random: systemRandom,
      charge: openCharge(till),
      base_url: config.base_url,
      profile: config.profile,
      issuer,
      hubs,
      readBookEvents: openBookEvents(database),
      findTask: task_id => findTask(database, config.base_url, task_id),
    };
    const url = await serve(config, services, {
      logger,
      closing,
      health: () => health({ database, chain, profile: config.profile, stand_ins: config.stand_ins }),
    });
    return { url, close: () => closing.close() };
  } catch (error) {
    await closing.close();
    throw error;
  }
}

interface Serving {
  readonly logger: Logger;
  readonly closing: Closing;
  health(): ReturnType<typeof health>;
}

/** Graph, doors and sockets on one port. */
async function serve(config: Config, services: EveryService, { logger, closing, health }: Serving): Promise<string> {
  const graph = await openGraph(await subgraphs(), { logger, introspection: config.profile === 'development' });
  const keyring = openKeyring({ live: config.api_keys, demo: config.demo_keys, waiver: config.waiver_keys });
  const identified = { ...services, keyring };
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
