import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { JsonObject } from '../schema/canonical-json.ts';
import { limits } from '../schema/limits.ts';
import { systemClock, systemRandom } from '../subgraphs/clock.ts';
import type { Database } from '../subgraphs/database.ts';
import { openLive } from '../subgraphs/live.ts';
import { DatabaseAway } from '../subgraphs/outage.ts';
import { hearDamagedRecords } from '../subgraphs/receipt/damaged-record.ts';
import { type HubOptions, openHubs as openHttpHubs } from '../subgraphs/receipt/inference/hubs/open.ts';
import { recordIssuer } from '../subgraphs/receipt/issuer/record.ts';
import { type Issuer, openIssuer } from '../subgraphs/receipt/issuer/signing-keys.ts';
import { agentOfWallet } from '../subgraphs/session/agent/find.ts';
import { openVault } from '../subgraphs/vault.ts';
import type { StreamsInFlight } from './charge/drive-stream.ts';
import { openCharge } from './charge/open-charge.ts';
import type { Config } from './config/read-config.ts';
import { type OpenedServices, servicesOf } from './http/callers.ts';
import { type Serve, serveGateway } from './http/serve-gateway.ts';
import type { BaseStart } from './log/believe-base.ts';
import { openLogAndBase } from './log/open-log-and-base.ts';
import type { Faults } from './operations/faults.ts';
import { health } from './operations/health.ts';
import { type Operations, openOperations } from './operations/open.ts';
import type { PaidCalls } from './operations/paid-calls.ts';
import { Readiness, type ReadinessParts } from './operations/readiness.ts';
import { watch, watchHubs } from './operations/watch.ts';
import { openStore, soldBy } from './parts.ts';
import type { ChainHead } from './rails/base/chain-head.ts';
import { openBase } from './rails/base/open-base.ts';
import { factoriesOf } from './rails/base/signature.ts';
import { openWalletProofs } from './rails/base/wallets.ts';
import { ChainAway } from './rails/epoch.ts';
import { configuredSettling, type OpenSettling, openConfiguredRails } from './rails/open-rails.ts';
import { closeRails, openRails, type Rails, railOf } from './rails/rail.ts';
import { openFreeUses } from './rates/free-uses.ts';
import { openRates } from './rates/rates.ts';
import { BookGuard } from './reconcile/audit-books.ts';
import { openReconciler, type ReconcileParts, type Reconciler } from './reconcile/reconcile.ts';
import { type OpenedRecording, openRecording } from './record/open-recording.ts';
import { openExtensions } from './x402/extensions/open-extensions.ts';
import { openChallenges } from './x402/offer.ts';

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
  readonly faults?: Faults | null;
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
  const { logger, faults = null, openChain = openBase, openSettling = configuredSettling() } = options;
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
    const opened_rails = await openConfiguredRails({
      ...{ config, database, chain: base.chain, chain_epoch: () => base.chain_epoch, wallets },
      ...{ faults, logger, openSettling, wait_ms: options.wait_ms },
    });
    closing.adopt(opened_rails, it => closeRails(it));
    const { rails, pay_to, chain_head } = opened_rails;
    const { profile, base_url } = config;
    const recording = openRecording({
      ...{ database, issuer, vault, faults, profile, saved_head: log.saved_head, known_log: log.known },
      ...{ ...times, anchor: () => chain_head.anchor() },
    });
    const same = { database, rails, vault, log: base, ...whoSells(database, { hubs, vault }), ...times };
    const challenges = openChallenges(pay_to, openExtensions(issuer, systemClock));
    const charging = openCharge({ ...same, pay_to, challenges, recording, issuer, rates, base_url, faults });
    const { streams } = charging;
    const failed = (error: unknown) => logger[levelOf(error, base.done)]({ err: error }, 'a round of reconcile failed');
    const unfinished = reconciledBy({ ...same, ...recording, ...charging, proveLog: () => log.watch.look() });
    const reconciler = closing.adopt(await openReconciler(unfinished, failed, operations.roundEnded), it => it.stop());
    const needs = needsOf(config, { rails, chain_head, queues: recording.queues, log: base, reconciler });
    const readiness = new Readiness(needs);
    const shown = { database, log: base, writable: needs.writable, profile, stand_ins: config.stand_ins };
    watch(metrics, { database, queues: recording.queues, readiness });

    const services = servicesOf(config, { database, live, vault, issuer, hubs, wallets }, charging, paid_calls);
    closing.adopt(streams, it => it.ended());
    const url = await serve(config, services, {
      pay_to,
      rates: openFreeUses(rates),
      judge: charging.judge,
      logger,
      closing,
      operations,
      health: () => health({ ...shown, rails: openRails(opened_rails), anchoring: base.anchoring }),
      away: () => readiness.away(),
      without: () => readiness.without(),
    });
    closing.adopt(streams, it => it.stop(limits.stream_stop_ms_max));
    return opened(url, { readiness, closing, streams, paid_calls });
  } catch (error) {
    await closing.disposeAsync();
    throw error;
  }
}

const times = { clock: systemClock, random: systemRandom };

/** This process by name, all that it sells, and whose a wallet is. */
function whoSells(database: Database, parts: Pick<OpenedServices, 'hubs' | 'vault'>) {
  return {
    owner: randomUUID(),
    sold: soldBy({ ...parts, random: systemRandom }),
    agentOfWallet: (wallet: string) => agentOfWallet(database, wallet),
  };
}

/** What reconcile is handed: it finishes a call by the same functions as the caller who waits. */
function reconciledBy(
  parts: Omit<ReconcileParts, 'finishing'> & Omit<ReconcileParts['finishing'], 'railOf'>,
): ReconcileParts {
  return { ...parts, finishing: { ...parts, railOf: ({ network }) => railOf(parts, network) } };
}

interface Running {
  readonly readiness: Pick<Readiness, 'drain'>;
  readonly closing: AsyncDisposableStack;
  readonly streams: Pick<StreamsInFlight, 'cut'>;
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

interface Needed {
  readonly rails: Rails;
  readonly chain_head: ChainHead;
  readonly queues: OpenedRecording['queues'];
  readonly log: BaseStart;
  readonly reconciler: Reconciler;
}

function needsOf({ profile }: Config, { rails, chain_head, queues, log, reconciler }: Needed): ReadinessParts {
  const { heartbeat } = reconciler;
  const { settler, age_ms } = railOf({ rails }, 'base');
  return {
    writable: () => heartbeat.beating() && !queues.claim.refused && !queues.record.refused,
    leased: () => heartbeat.beating(),
    chain_age_ms: age_ms,
    lane_age_ms: lane => (rails[lane] ? rails[lane].age_ms() : 0),
    sound: () => log.sound,
    // A development chain may run ahead: each of its blocks is a second later than the one before.
    clock_off_ms: () => Math.max(heartbeat.clock_off_ms(), profile === 'production' ? chain_head.ahead_ms() : 0),
    facilitator: settler.reachable?.bind(settler),
  };
}
