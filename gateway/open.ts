import type { Logger } from 'pino';
import type { JsonObject } from '../schema/canonical-json.ts';
import { limits } from '../schema/limits.ts';
import { openBookEvents } from '../subgraphs/book/page/page.ts';
import { systemClock, systemRandom } from '../subgraphs/clock.ts';
import type { Database } from '../subgraphs/database.ts';
import { openLive } from '../subgraphs/live.ts';
import { DatabaseAway } from '../subgraphs/outage.ts';
import { findTask } from '../subgraphs/receipt/claim/task-status.ts';
import { hearDamagedRecords } from '../subgraphs/receipt/damaged-record.ts';
import { type HubOptions, openHubs as openHttpHubs } from '../subgraphs/receipt/inference/hubs/open.ts';
import { type Issuer, openIssuer } from '../subgraphs/receipt/issuer/keys.ts';
import { recordIssuer } from '../subgraphs/receipt/issuer/record.ts';
import { Uploads } from '../subgraphs/uploads.ts';
import { openVault } from '../subgraphs/vault.ts';
import { openJudge } from './charge/judge.ts';
import { configuredSettling, type OpenSettling, openTill } from './charge/open-till.ts';
import { openChargeStream } from './charge/paid-streamed.ts';
import { openCharge } from './charge/paid-whole.ts';
import type { Till } from './charge/till.ts';
import type { Config } from './config/read-config.ts';
import type { EveryService } from './http/callers.ts';
import { type Serve, serveGateway } from './http/serve-gateway.ts';
import type { BaseStart } from './log/believe-base.ts';
import { openLogAndBase } from './log/open-log-and-base.ts';
import { type Faults, noFaults } from './operations/faults.ts';
import { type HealthParts, health } from './operations/health.ts';
import { type Operations, openOperations } from './operations/open.ts';
import type { PaidCalls } from './operations/paid-calls.ts';
import { Readiness, type ReadinessParts } from './operations/readiness.ts';
import { watch, watchHubs } from './operations/watch.ts';
import { openBase } from './rails/base/open-base.ts';
import { factoriesOf } from './rails/base/signature.ts';
import { openWalletProofs } from './rails/base/wallets.ts';
import { ChainAway } from './rails/epoch.ts';
import { closeRails, openRails, railOf } from './rails/rail.ts';
import { openFreeUses } from './rates/free-uses.ts';
import { openRates } from './rates/rates.ts';
import { BookGuard } from './reconcile/audit-books.ts';
import { openReconciler, type Reconciler } from './reconcile/reconcile.ts';
import { openStore } from './store.ts';

export interface Gateway {
  readonly url: string;
  /** From now on it is not ready: whoever spreads calls sends them elsewhere. It still takes what comes. */
  drain(): void;
  /** Finishes what is in flight, then lets go of everything, in the reverse order of opening. */
  close(): Promise<void>;
  /** Cuts off streams in flight: they are recorded without the rest of their answers. */
  hurry(): void;
  /** Paid calls that have not come to their end. */
  readonly underway: readonly JsonObject[];
}

export interface GatewayOptions {
  readonly logger: Logger;
  readonly faults?: Faults;
  readonly openHubs?: typeof openHttpHubs;
  readonly openChain?: typeof openBase;
  readonly openSettling?: OpenSettling;
  /** For so long a caller waits for a transaction on Solana. */
  readonly wait_ms?: number;
  /** What is served of what is opened; all of it unless given. */
  readonly serve?: Serve;
  /** How many of the log's newest leaves are audited before anything is served. */
  readonly audit_leaves?: number;
}

/** The composition root: what is opened here is closed here, and nothing else in the service makes its own. */
export async function openGateway(config: Config, options: GatewayOptions): Promise<Gateway> {
  const { logger, faults = noFaults, openChain = openBase, openSettling = configuredSettling() } = options;
  const {
    audit_leaves = limits.log_audit_leaves_max_at_start,
    serve = serveGateway,
    openHubs = openHttpHubs,
  } = options;
  const closing = new AsyncDisposableStack();
  try {
    const operations = closing.adopt(openOperations(exposureOf(config), logger), it => it.close());
    const { metrics, paid_calls } = operations;
    const database = closing.adopt(await openStore(config.database_url), store => store.close());
    hearDamagedRecords(database, operations.recordDamaged);
    const signer = openIssuer(config.issuer_keys, { base_url: config.base_url, now_ms: systemClock.now_ms });
    const { log, base } = await openLogAndBase(config, {
      ...{ database, openChain, issuer: signer, logger, operations, closing, audit_leaves },
    });
    const issuer = await withHistories(signer, database, config, logger);
    closing.adopt(await BookGuard.open(database, logger), it => it.stop());
    await base.begin(issuer.jwks);
    const live = closing.adopt(await openLive(database), it => it.close());
    await log.watch.listen(live);
    const hubs = closing.adopt(openHubs(config.hubs, hubOptions(config, operations)), it => it.close());
    watchHubs(metrics, hubs);
    const wallets = openWalletProofs(base.chain, factoriesOf(config));
    const vault = openVault(config.seal_key);
    const rates = openRates(config.rates, systemClock);

    const till = await openTill({
      config,
      database,
      chain: base.chain,
      chain_epoch: () => base.chain_epoch,
      wallets,
      hubs,
      issuer,
      vault,
      ...{ saved_head: log.saved_head, known_log: log.known, log: base },
      rates,
      faults,
      logger,
      openSettling,
      wait_ms: options.wait_ms,
    });
    closing.adopt(till, it => closeRails(it));
    const failed = (error: unknown) => logger[levelOf(error, base.done)]({ err: error }, 'a round of reconcile failed');
    const reconciler = closing.adopt(await openReconciler(till, failed, operations.roundEnded), it => it.stop());
    const readiness = new Readiness(needsOf(till, reconciler));
    watch(metrics, { database, queues: till.queues, readiness });

    const services = servicesOf(config, { database, live, vault, issuer, hubs, wallets }, till, paid_calls);
    closing.adopt(till.streams, it => it.ended());
    const url = await serve(config, services, {
      pay_to: till.pay_to,
      rates: openFreeUses(rates),
      judge: openJudge(till),
      logger,
      closing,
      operations,
      health: () => health(healthParts(config, till, base, reconciler)),
      away: () => readiness.away(),
      without: () => readiness.without(),
    });
    closing.adopt(till.streams, it => it.stop(limits.stream_stop_ms_max));
    return opened(url, { readiness, closing, streams: till.streams, paid_calls });
  } catch (error) {
    await closing.disposeAsync();
    throw error;
  }
}

interface Running {
  readonly readiness: Pick<Readiness, 'drain'>;
  readonly closing: AsyncDisposableStack;
  readonly streams: Pick<Till['streams'], 'cut'>;
  readonly paid_calls: Pick<PaidCalls, 'underway'>;
}

function opened(url: string, { readiness, closing, streams, paid_calls }: Running): Gateway {
  return {
    url,
    drain: () => readiness.drain(),
    close: () => closing.disposeAsync(),
    hurry: () => streams.cut(),
    get underway() {
      return paid_calls.underway;
    },
  };
}

/** Until Base is known no round can ask it: that has been said once, and is not said again with each. */
function levelOf(error: unknown, base_known: boolean): 'debug' | 'warn' | 'error' {
  if (!base_known && error instanceof ChainAway) return 'debug';
  return error instanceof DatabaseAway ? 'warn' : 'error';
}

const exposureOf = ({ metrics_token: token, profile }: Config) => ({ token, profile });

/** On a log that was proven, and on no other: its history would be another's. */
function withHistories(signer: Issuer, database: Database, { data_dir }: Config, logger: Logger): Promise<Issuer> {
  const failed = (error: unknown) => logger.warn({ err: error }, 'the issuer history could not be read again');
  return recordIssuer(database, signer, { data_dir, failed });
}

function hubOptions({ hub_timeout_ms: timeout_ms, router }: Config, { hubHeard: heard }: Operations): HubOptions {
  return { clock: systemClock, random: systemRandom, router, timeout_ms, heard };
}

type Opened = Pick<EveryService, 'database' | 'live' | 'vault' | 'issuer' | 'hubs' | 'wallets'>;

/** What every resolver may ask for, of the parts that were opened. */
function servicesOf({ base_url, profile }: Config, opened: Opened, till: Till, paid_calls: PaidCalls): EveryService {
  return {
    ...opened,
    uploads: new Uploads(),
    clock: systemClock,
    random: systemRandom,
    charge: paid_calls.charge(openCharge(till)),
    chargeStream: paid_calls.chargeStream(openChargeStream(till)),
    base_url,
    profile,
    readBookEvents: openBookEvents(opened.database),
    findTask: task_id => findTask(opened.database, base_url, task_id),
  };
}

function healthParts(config: Config, till: Till, { anchoring }: BaseStart, reconciler: Reconciler): HealthParts {
  const { profile, stand_ins } = config;
  const { database, log } = till;
  const { writable } = needsOf(till, reconciler);
  return { database, rails: openRails(till), writable, log, anchoring, profile, stand_ins };
}

function needsOf(till: Till, { heartbeat }: Reconciler): ReadinessParts {
  const { queues, log, profile, chain_head } = till;
  const { settler, age_ms } = railOf(till, 'base');
  return {
    writable: () => heartbeat.beating() && !queues.claim.refused && !queues.record.refused,
    leased: () => heartbeat.beating(),
    chain_age_ms: age_ms,
    lane_age_ms: lane => (till.rails[lane] ? till.rails[lane].age_ms() : 0),
    sound: () => log.sound,
    // A development chain may run ahead: each of its blocks is a second later than the one before.
    clock_off_ms: () => Math.max(heartbeat.clock_off_ms(), profile === 'production' ? chain_head.ahead_ms() : 0),
    facilitator: settler.reachable?.bind(settler),
  };
}
