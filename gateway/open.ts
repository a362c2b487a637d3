import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { JsonObject } from '../schema/canonical-json.ts';
import { limits } from '../schema/limits.ts';
import { openLookUps } from '../subgraphs/book/router/look-up.ts';
import { type Clock, systemClock, systemRandom } from '../subgraphs/clock.ts';
import type { Database } from '../subgraphs/database.ts';
import type { ForeignTransfers } from '../subgraphs/foreign-transfers.ts';
import { type LiveConnectionReport, type LiveState, openLive } from '../subgraphs/live.ts';
import { onDamagedRecord } from '../subgraphs/receipt/damaged-record.ts';
import { type Hubs, openHubs as openHttpHubs } from '../subgraphs/receipt/inference/hubs/open.ts';
import { recordIssuer } from '../subgraphs/receipt/issuer/record.ts';
import { type Issuer, openIssuer } from '../subgraphs/receipt/issuer/signing-keys.ts';
import { refuseWritesWhileHalted } from '../subgraphs/receipt/log/halt-guard.ts';
import { type HeadName } from '../subgraphs/receipt/log/tree-head.ts';
import { agentOfWallet } from '../subgraphs/session/agent/find.ts';
import { openVault } from '../subgraphs/vault.ts';
import { openBackground } from './background.ts';
import { callLog } from './call/ground.ts';
import { openCall } from './call/open-call.ts';
import { type OpenedRecording, openRecording } from './call/record/open-recording.ts';
import type { Config } from './config/read-config.ts';
import { everyFeature } from './features/every-feature.ts';
import { type Feature, requireNeeded } from './features/feature.ts';
import { RemoteStandings } from './graph/remote/open-sources.ts';
import { servicesOf } from './http/callers.ts';
import { type Serve, serveGateway } from './http/serve-gateway.ts';
import { Cosigning, type CosigningParts, openWitnesses } from './log/cosigning.ts';
import { type BaseStart, openLogAndBase } from './log/recognize-base.ts';
import type { LogWatch } from './log/watch-log.ts';
import type { Faults } from './operations/faults.ts';
import { health } from './operations/health.ts';
import { type Operations, openOperations } from './operations/open.ts';
import { Readiness, type ReadinessParts } from './operations/readiness.ts';
import { duringStart } from './operations/start-steps.js';
import { watch, watchHubs } from './operations/watch.ts';
import { openOwnStore } from './own-store.ts';
import { openSales } from './parts.ts';
import type { ChainHead } from './rails/base/chain-head.ts';
import { openBase } from './rails/base/open-base.ts';
import { factoriesOf } from './rails/base/signature.ts';
import { openWalletProofs } from './rails/base/wallets.ts';
import { configuredSettling, type OpenSettling, openConfiguredRails } from './rails/open-rails.ts';
import { openRails, type Rails, railOf } from './rails/rail.ts';
import { openPayoutAccounts } from './rails/solana/payout-accounts.ts';
import { openFreeUses, openRates } from './rates/rates.ts';
import { BookGuard } from './reconcile/audit-books.ts';
import { type ReconcileParts, type Reconciler } from './reconcile/reconcile.ts';
import { openExtensions } from './x402/extensions.ts';
import { openChallenges } from './x402/offer.ts';

export interface Gateway {
  readonly url: string;
  /** Makes the readiness check fail, so that a load balancer sends calls elsewhere. Calls that arrive are still served. */
  drain(): void;
  /** Finishes open calls, and then closes everything in the reverse order of opening. */
  close(): Promise<void>;
  /** Ends open streams. They are recorded without the rest of their answers. */
  hurry(): void;
  /** Paid calls that have not ended. */
  readonly underway: readonly JsonObject[];
}

export interface GatewayOptions {
  readonly logger: Logger;
  readonly faults?: Faults | null;
  readonly openHubs?: typeof openHttpHubs;
  readonly openChain?: typeof openBase;
  readonly openSettling?: OpenSettling;
  /** Clock for payments, proofs, rates and market data. Default: the clock of the system. */
  readonly clock?: Clock;
  /** Time for which a caller waits for a transaction on Solana. */
  readonly wait_ms?: number;
  /** Minimum work of a send on Nano. Default: the threshold of the network. */
  readonly nano_work_min?: bigint;
  /** Serves the endpoints. Default: all of them. */
  readonly serve?: Serve;
  /** Verifier of payments to others. Default: opened from the configuration. */
  readonly transfers?: ForeignTransfers;
  /** Number of the log's newest leaves that are audited before the service starts. */
  readonly audit_leaves?: number;
  /** Pause of the audit of books after each step, as a multiple of its duration. Default: 9, so that it uses at most a tenth of a core. */
  readonly book_audit_rests?: number;
  /** Features beyond the specification. Default: all. */
  readonly features?: readonly Feature[];
  /** SDL composed of the subgraphs with these features. Default: the committed supergraph. */
  readonly supergraph?: string;
}

/**
 * Opens the gateway. This is the composition root: all parts are opened and closed here, and no other part creates its own dependencies.
 */
export async function openGateway(config: Config, options: GatewayOptions): Promise<Gateway> {
  const { logger, faults = null, openChain = openBase, openHubs = openHttpHubs, serve = serveGateway } = options;
  const { openSettling = configuredSettling(), audit_leaves = limits.log_audit_leaves_max_at_start } = options;
  const { features = everyFeature, supergraph } = options;
  requireNeeded(features);
  const times = { clock: options.clock ?? systemClock, random: systemRandom };
  const closing = new AsyncDisposableStack();
  try {
    const operations = closing.adopt(
      openOperations({ token: config.metrics_token, profile: config.profile }, logger, times.clock),
      it => it.close(),
    );
    const { metrics, paid_calls } = operations;
    const owner = randomUUID();
    const { database: store, log_origin } = await duringStart(
      'preparing the database',
      openOwnStore(config, logger, features),
    );
    closing.defer(() => store.close());
    onDamagedRecord(store, operations.recordDamaged);
    const signing_as = { base_url: config.base_url, base_urls: config.base_urls, log_origin };
    const signer = openIssuer(config.issuer_keys, { ...signing_as, now_ms: () => times.clock.now_ms() });
    const opening = openLogAndBase(config, {
      database: store,
      faults,
      openChain,
      issuer: signer,
      logger,
      operations,
      closing,
      audit_leaves,
      owner,
    });
    const { log, base } = await duringStart('checking the log of receipts', opening);
    // The database for recording, settling, reconcile and the heartbeat, which check for a halt themselves. Its commits do not wait until
    // the heads of books are saved; a response waits for that before it is sent.
    const database = log.books.track(store, { waits: false });
    // The database for resolvers. Its commits wait until the heads of books are saved, and it refuses writes while the log is halted.
    const { watch: log_watch } = log;
    const saving = log.books.track(store, { waits: true });
    const guarded = refuseWritesWhileHalted(saving, () => log_watch.halt, log_watch.halted);
    for (const it of [database, guarded]) onDamagedRecord(it, operations.recordDamaged);
    await base.compare();
    const issuer = await withHistories(signer, database, config, { logger, watch: log.watch });
    const auditing = {
      ...(options.book_audit_rests !== undefined && { rests: options.book_audit_rests }),
      isHalted: () => log.watch.halt !== null,
    };
    closing.adopt(await BookGuard.open(database, logger, auditing), it => it.stop());
    await base.begin(issuer.jwks);
    const live = closing.adopt(openLive(database, liveConnectionReport(logger)), it => it.close());
    await log.watch.listen(live);
    const { hubs, router_look_ups } = openUpstream(config, openHubs, operations, closing);
    const wallets = openWalletProofs(base.chain, factoriesOf(config));
    const vault = openVault(config.seal_key);
    const rates = openRates(config.rates, times.clock);
    const opened_rails = await openConfiguredRails({
      config,
      database,
      chain: base.chain,
      chain_epoch: () => base.chain_epoch,
      wallets,
      ...options,
      clock: times.clock,
      faults,
      logger,
      openSettling,
    });
    closing.adopt(opened_rails, it => it.close());
    const { rails, pay_to, chain_head } = opened_rails;
    const { transfers = opened_rails.transfers } = options;
    const { profile, base_url, base_urls } = config;
    const ground = { database, rails, log: callLog(base, log), issuer, vault, ...times, faults };
    const recording = openRecording(ground, { profile, anchor: () => chain_head.anchor() });
    const seller = { owner, pay_to, base_url, base_urls, wallets, ...salesOf(database, { hubs, vault, issuer }) };
    const challenges = openChallenges(pay_to, openExtensions(issuer, times.clock));
    const charging = openCall(ground, seller, {
      challenges,
      recording,
      rates,
      precedence: operations.precedence,
    });
    await live.watchCanceled(charging.onCanceled);
    const watched = watchedBy(config, log.watch, { database, issuer, logger });
    const arrived = features.flatMap(({ onArrival }) => onArrival ?? []);
    const parts = { ...ground, ...seller, ...recording, ...charging, ...watched, transfers, arrived };
    const unfinished = reconciledBy(parts);
    const { reconciler, jobs } = await openBackground(unfinished, {
      base,
      config,
      vault,
      issuer,
      features,
      logger,
      operations,
      closing,
    });
    const standings = new RemoteStandings();
    const known = { rails, chain_head, queues: recording.queues, log: base, reconciler, standings, hubs, live };
    const needs = needsOf(config, known);
    const readiness = new Readiness(needs);
    const { writable, subgraphs_away } = needs;
    const shown = { database, log: base, writable, subgraphs_away, readiness, jobs, ...shownOf(config) };
    const more = features.flatMap(({ watch }) => watch ?? []);
    watch(metrics, { database, queues: recording.queues, readiness, witnesses: shown.witnesses, more });
    const payout_accounts = closing.adopt(openPayoutAccounts(config.solana), it => it.close());
    const payment_index = features.flatMap(({ indexPayments }) => indexPayments?.(guarded) ?? [])[0] ?? null;
    const asked = {
      hubs,
      router_look_ups,
      wallets,
      transfers,
      payout_accounts,
      payment_index,
      ...besideCalls(recording),
    };
    const held = { database: guarded, live, vault, issuer, log, pay_to, rates, clock: times.clock, ...asked };
    const services = servicesOf(config, held, charging, paid_calls);
    closing.adopt(charging.streams, it => it.ended());
    const url = await serve(config, services, {
      pay_to,
      rates: openFreeUses(rates),
      judge: charging.judge,
      logger,
      closing,
      operations,
      standings,
      health: () => health({ ...shown, rails: openRails(opened_rails), anchoring: base.anchoring }),
      missingNeeds: () => readiness.missingNeeds(),
      missingLanes: () => readiness.missingLanes(),
      features,
      ...(supergraph !== undefined && { supergraph }),
    });
    closing.adopt(charging.streams, it => it.stop(limits.stream_stop_ms_max));
    jobs.start();
    return {
      url,
      drain: () => readiness.drain(),
      close: () => closing.disposeAsync(),
      hurry: () => charging.streams.cut(),
      get underway() {
        return paid_calls.underway;
      },
    };
  } catch (error) {
    await closing.disposeAsync();
    throw error;
  }
}

/** Recorders of what is not sold by this service. */
const besideCalls = ({ reports, completions, hand_offs }: OpenedRecording) => ({ reports, completions, hand_offs });

/** Checks of the log in addition to those of appends: comparison with known heads, and cosigning. */
function watchedBy({ witnesses }: Config, watch: LogWatch, parts: Omit<CosigningParts, 'meet' | 'witnesses'>) {
  const meet = (head: HeadName) => watch.meet(head);
  const cosigning = new Cosigning({ ...parts, meet, witnesses: openWitnesses(witnesses) });
  return { cosigning, proveLog: () => watch.look() };
}

/** Members of the configuration that `/health` shows. */
function shownOf({ profile, stand_ins, witnesses }: Config) {
  return { profile, stand_ins, witnesses: openWitnesses(witnesses).map(({ key }) => key) };
}

/** All paid operations, and the look-up of an agent by its wallet. */
function salesOf(database: Database, parts: Omit<Parameters<typeof openSales>[0], 'random'>) {
  return {
    sold: openSales({ ...parts, random: systemRandom }),
    agentOfWallet: (wallet: string) => agentOfWallet(database, wallet),
  };
}

/** Parts of reconcile, which finishes a call with the same functions as the call's own process. */
function reconciledBy(
  parts: Omit<ReconcileParts, 'finishing'> & Omit<ReconcileParts['finishing'], 'railOf'>,
): ReconcileParts {
  return { ...parts, finishing: { ...parts, railOf: ({ network }) => railOf(parts, network) } };
}

const liveConnectionReport = (logger: Logger): LiveConnectionReport => ({
  onLost: fault =>
    logger.warn(
      { err: fault },
      'the database connection that receives changes of other processes is lost; live rows and ends of sessions are delayed until it is restored; this process keeps trying to reconnect',
    ),
  onRestored: () =>
    logger.warn(
      'the database connection that receives changes of other processes is restored; live rows and ends of sessions are on time again',
    ),
});

/** Adds the key history to the issuer. The log must have been proven before, because the history in another database would be wrong. */
async function withHistories(
  signer: Issuer,
  database: Database,
  { data_dir }: Config,
  { logger, watch }: { readonly logger: Logger; readonly watch: LogWatch },
): Promise<Issuer> {
  const failed = (error: unknown) =>
    logger.warn(
      { err: error },
      'the key history of the issuer could not be refreshed from the database; the one that was read last is used until it can be',
    );
  const issuer = await recordIssuer(database, signer, { data_dir, onFailure: failed });
  watch.signsBy(issuer);
  return issuer;
}

interface OperationsNeeds {
  readonly rails: Rails;
  readonly chain_head: ChainHead;
  readonly queues: OpenedRecording['queues'];
  readonly log: BaseStart;
  readonly reconciler: Reconciler;
  readonly standings: RemoteStandings;
  readonly hubs: Pick<Hubs, 'away'>;
  readonly live: LiveState;
}

function needsOf({ profile }: Config, needed: OperationsNeeds): ReadinessParts {
  const { rails, chain_head, queues, log, reconciler, standings, hubs, live } = needed;
  const { heartbeat } = reconciler;
  const { settler, age_ms } = railOf({ rails }, 'base');
  return {
    writable: () => heartbeat.isBeating() && !queues.claim.refused && !queues.record.refused,
    holdsLease: () => heartbeat.isBeating(),
    chain_age_ms: age_ms,
    lane_age_ms: lane => (rails[lane] ? rails[lane].age_ms() : 0),
    sound: () => log.sound,
    // A development chain may be ahead of the clock, because each of its blocks is a second later than the one before.
    clock_off_ms: () => Math.max(heartbeat.clock_off_ms(), profile === 'production' ? chain_head.ahead_ms() : 0),
    subgraphs_away: () => standings.missingSubgraphs(),
    settling_trouble: network => rails[network]?.settling.trouble ?? null,
    hubs_away: () => hubs.away.length > 0,
    listens: () => live.listens,
    facilitator: settler.reachable?.bind(settler),
  };
}

/** Opens the hubs and the router that answer calls, and the look-up of what the router has answered to other callers. */
function openUpstream(
  { hubs: settings, hub_timeout_ms: timeout_ms, router }: Config,
  openHubs: typeof openHttpHubs,
  operations: Operations,
  closing: AsyncDisposableStack,
) {
  const times = { clock: systemClock, random: systemRandom };
  const { onHubCallEnd, onHubRefusal } = operations;
  const hubs = closing.adopt(
    openHubs(settings, { ...times, router, timeout_ms, onCallEnd: onHubCallEnd, onRefusal: onHubRefusal }),
    it => it.close(),
  );
  watchHubs(operations.metrics, hubs);
  const router_look_ups = router && closing.adopt(openLookUps(router.base_url), it => it.close());
  return { hubs, router_look_ups };
}
