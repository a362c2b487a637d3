import type { Logger } from 'pino';
import { credentialsIn } from '../rest-compat/credentials.ts';
import { everyDoor } from '../rest-compat/doors/every.ts';
import { serveDoors } from '../rest-compat/serve.ts';
import { limits } from '../schema/limits.ts';
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
import { type SessionContext, sealDecoy } from '../subgraphs/session/index.ts';
import { openVault } from '../subgraphs/vault.ts';
import { Closing } from './closing.ts';
import type { Config } from './config.ts';
import { health } from './health.ts';
import { openBase } from './payment/base/open-base.ts';
import { openWalletProofs } from './payment/base/wallet-proofs.ts';
import { openCharge } from './payment/charge.ts';
import { presentedIn } from './payment/headers.ts';
import { configuredSettling, type OpenSettling, openTill } from './payment/open-till.ts';
import { openReconciler } from './payment/reconcile.ts';
import { openChargeStream } from './payment/stream.ts';
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
  /** How many of the log's newest leaves are audited before anything is served. */
  readonly audit_leaves?: number;
}

/** Everything that a resolver of any subgraph may ask of this process. */
type EveryContext = ReceiptContext & InferenceContext & BookContext & SessionContext;
type EveryService = Omit<EveryContext, 'principal' | 'payment' | 'response'>;

/** The composition root: what is opened here is closed here, and nothing else in the service makes its own. */
export async function openGateway(config: Config, options: GatewayOptions): Promise<Gateway> {
  const { logger, faults = noFaults, openChain = openBase, openSettling = configuredSettling() } = options;
  const { audit_leaves = limits.log_audit_leaves_max_at_start } = options;
  const closing = new Closing();
  try {
    const database = closing.add(await openStore(config.database_url), store => store.close());
    const issuer = openIssuer(config.issuer_keys, { base_url: config.base_url, now_ms: systemClock.now_ms });
    const { saved_head, guard } = await openLog(database, { data_dir: config.data_dir, issuer, logger, audit_leaves });
    closing.add(guard, it => it.stop());
    const live = closing.add(await openLive(database), it => it.close());
    const hub_options = { clock: systemClock, timeout_ms: config.hub_timeout_ms };
    const hubs = closing.add(openHubs(config.hubs, hub_options), it => it.close());
    const chain = closing.add(openChain({ rpc_url: config.base_rpc_url }), it => it.close());
    const wallets = openWalletProofs(chain);
    const vault = openVault(config.seal_key);

    const till = await openTill({
      config,
      database,
      chain,
      wallets,
      hubs,
      issuer,
      vault,
      saved_head,
      log: guard,
      faults,
      logger,
      openSettling,
    });
    closing.add(till, it => it.settler.close());
    const reconciler = await openReconciler(till, error => logger.error({ err: error }, 'a round of reconcile failed'));
    closing.add(reconciler, it => it.stop());

    const services: EveryService = {
      database,
      live,
      vault,
      clock: systemClock,
      random: systemRandom,
      charge: openCharge(till),
      chargeStream: openChargeStream(till),
      base_url: config.base_url,
      profile: config.profile,
      issuer,
      hubs,
      wallets,
      readBookEvents: openBookEvents(database),
      findTask: task_id => findTask(database, config.base_url, task_id),
    };
    closing.add(till.streams, it => it.ended());
    const url = await serve(config, services, {
      logger,
      closing,
      health: () =>
        health({
          database,
          chain,
          settler: till.settler,
          writable: () => reconciler.heartbeat.beating() && !till.queues.claim.refused,
          log: guard,
          profile: config.profile,
          stand_ins: config.stand_ins,
        }),
    });
    closing.add(till.streams, it => it.stop(limits.stream_stop_ms_max));
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
