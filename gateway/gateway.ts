import type { Logger } from 'pino';
import { limits } from '../schema/limits.ts';
import { openBookEvents } from '../subgraphs/book/index.ts';
import { systemClock, systemRandom } from '../subgraphs/clock.ts';
import { openLive } from '../subgraphs/live.ts';
import { findTask, openHubs, openIssuer } from '../subgraphs/receipt/index.ts';
import { openVault } from '../subgraphs/vault.ts';
import { Closing } from './closing.ts';
import type { Config } from './config.ts';
import { type HealthParts, health } from './health.ts';
import { openBase } from './payment/base/open-base.ts';
import { openWalletProofs } from './payment/base/wallet-proofs.ts';
import { openCharge } from './payment/charge.ts';
import { configuredSettling, type OpenSettling, openTill } from './payment/open-till.ts';
import { openReconciler, type Reconciler } from './payment/reconcile.ts';
import { openChargeStream } from './payment/stream.ts';
import { type Faults, noFaults, type Till } from './payment/till.ts';
import { openLog } from './receipt-log.ts';
import { type EveryService, serve } from './serve.ts';
import { openStore } from './store.ts';

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

    const services = servicesOf(config, { database, live, vault, issuer, hubs, wallets }, till);
    closing.add(till.streams, it => it.ended());
    const url = await serve(config, services, {
      logger,
      closing,
      health: () => health(healthParts(config, till, reconciler)),
    });
    closing.add(till.streams, it => it.stop(limits.stream_stop_ms_max));
    return { url, close: () => closing.close() };
  } catch (error) {
    await closing.close();
    throw error;
  }
}

type Opened = Pick<EveryService, 'database' | 'live' | 'vault' | 'issuer' | 'hubs' | 'wallets'>;

/** What every resolver may ask for, of the parts that were opened. */
function servicesOf({ base_url, profile }: Config, opened: Opened, till: Till): EveryService {
  return {
    ...opened,
    clock: systemClock,
    random: systemRandom,
    charge: openCharge(till),
    chargeStream: openChargeStream(till),
    base_url,
    profile,
    readBookEvents: openBookEvents(opened.database),
    findTask: task_id => findTask(opened.database, base_url, task_id),
  };
}

function healthParts({ profile, stand_ins }: Config, till: Till, reconciler: Reconciler): HealthParts {
  const { database, chain, settler, log } = till;
  const writable = () => reconciler.heartbeat.beating() && !till.queues.claim.refused;
  return { database, chain, settler, writable, log, profile, stand_ins };
}
