import { networks } from '../../schema/network.ts';
import { type CompleteConfig, type Config, completeConfig, deepFreeze, type Settings } from '../config/read-config.ts';
import { type DevelopmentFile, writeDevelopmentFile } from '../operations/development-file.ts';
import { duringStart } from '../operations/start-steps.js';
import { announceTenant, joinTenancy, tenantsOf } from '../operations/tenancy.ts';
import { developmentBuyers, developmentFacilitators, type Wallet } from './chain/accounts.ts';
import { giveAnchorGas } from './chain/genesis.ts';
import { startHeartbeat } from './chain/heartbeat.ts';
import { startBaseChain } from './chain/start.ts';
import { routerOf, startHubs } from './hub/start.ts';
import { endStandIns, IDLE_MS } from './keep.ts';
import { withLock } from './lock.ts';
import { startPostgres } from './postgres/start.ts';
import { requirePackages } from './spawn-detached.ts';
import { solanaOn, startSvm } from './svm/start.ts';
import { developmentSolanaBuyers } from './svm/wallets.ts';

export interface Development {
  readonly config: Config;
  /** Wallets with USDC on the development chain; empty on another chain. */
  readonly wallets: readonly Wallet[];
  /** Stops the services in this process, and Postgres and the chains only if no other process uses this DATA_DIR. */
  stop(): Promise<void>;
}

const LOCK_MS = 180_000;

interface StartOptions {
  /** Whether to announce the address in development.json. Only a gateway does so. */
  readonly announce?: boolean;
  /** Time after which a stand-in that no process uses ends by itself. */
  readonly idle_ms?: number;
}

/** Starts or adopts a stand-in for each service that is not configured. In production there are none. */
export async function startDevelopment(
  settings: Settings,
  { announce = true, idle_ms = IDLE_MS }: StartOptions = {},
): Promise<Development> {
  requirePackages(settings);
  const complete = await completeConfig(settings);
  const lock = `development:${complete.data_dir}`;
  const started = new AsyncDisposableStack();
  const stop = () => withLock(lock, () => started.disposeAsync(), LOCK_MS);
  try {
    // The lock prevents another process from stopping the stand-ins meanwhile.
    const config = await withLock(lock, () => startStandIns(complete, idle_ms, started), LOCK_MS);
    const wallets = complete.base_rpc_url ? [] : developmentBuyers;
    const announced = () => withLock(lock, () => announceOnce(config, wallets), LOCK_MS);
    if (announce && config.profile === 'development') await announced();
    return { config, wallets, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Announces this service, unless another one on the same DATA_DIR is announced and still runs. */
async function announceOnce(config: Config, wallets: readonly Wallet[]): Promise<void> {
  const others = (await tenantsOf(config.data_dir)).filter(({ pid, url }) => pid !== process.pid && url !== null);
  if (others.length > 0) return;
  await writeDevelopmentFile(config.data_dir, documentOf(config, wallets));
  await announceTenant(config.data_dir, config.base_url);
}

async function startStandIns(
  complete: CompleteConfig,
  idle_ms: number,
  started: AsyncDisposableStack,
): Promise<Config> {
  const { solana_rpc_url, ...outliving } = await startOutliving(complete, idle_ms, started);
  if (!complete.base_rpc_url) {
    started.defer(startHeartbeat(outliving.base_rpc_url));
    await giveAnchorGas(outliving.base_rpc_url, complete.anchor_key);
  }
  return deepFreeze({
    ...complete,
    ...outliving,
    solana: await solanaOn(complete, solana_rpc_url),
    facilitator_keys: complete.facilitator_keys ?? settlementKeys(complete.facilitator_url),
    hubs: complete.hubs ?? (await startHubs(started)),
    router: await routerOf(complete, started),
    subgraph_urls: complete.subgraph_urls ?? {},
  });
}

/** Starts Postgres and the chains, which are separate processes that all services of this DATA_DIR share. */
async function startOutliving(complete: CompleteConfig, idle_ms: number, started: AsyncDisposableStack) {
  const { data_dir, database_url, base_rpc_url } = complete;
  const tenancy = await joinTenancy(data_dir);
  const starting = [
    // A configured service is used unchanged and not stopped.
    database_url ?? duringStart('starting Postgres', postgresOf(data_dir, idle_ms)),
    base_rpc_url ?? duringStart('starting a Base chain', baseOf(data_dir, idle_ms)),
    solanaOf(complete, idle_ms),
  ] as const;
  started.defer(async () => {
    if ((await tenancy.leave()).kind === 'others') return;
    await Promise.allSettled(starting);
    await endStandIns(data_dir);
  });
  const [postgres_url, chain_url, solana_rpc_url] = await Promise.all(starting);
  return { database_url: postgres_url, base_rpc_url: chain_url, solana_rpc_url };
}

async function postgresOf(data_dir: string, idle_ms: number): Promise<string> {
  return (await startPostgres(data_dir, idle_ms)).url;
}

async function baseOf(data_dir: string, idle_ms: number): Promise<string> {
  return (await startBaseChain(data_dir, { idle_ms })).rpc_url;
}

/**
 * URL of the Solana node. Null if payments on Solana are not offered, because they are disabled or LiteSVM is not available for
 * this machine.
 */
async function solanaOf(complete: CompleteConfig, idle_ms: number): Promise<string | null> {
  if (complete.without_solana) return null;
  if (complete.solana_rpc_url) return complete.solana_rpc_url;
  const svm = await duringStart('starting a Solana chain', startSvm(complete.data_dir, idle_ms));
  return svm.kind === 'running' ? svm.rpc_url : null;
}

/** Settlement keys of development. None are needed with a facilitator, which settles with its own. */
function settlementKeys(facilitator_url: string | null): Config['facilitator_keys'] {
  return facilitator_url ? [] : developmentFacilitators.map(wallet => wallet.private_key);
}

function documentOf(config: Config, wallets: readonly Wallet[]): DevelopmentFile {
  return {
    url: config.base_url,
    base_rpc_url: config.base_rpc_url,
    solana_rpc_url: config.solana?.rpc_url ?? null,
    usdc: networks.base.usdc,
    pay_to: config.pay_to_base,
    wallets,
    solana_wallets: config.solana && !config.solana_rpc_url ? developmentSolanaBuyers : [],
    board_ops_secret: config.board_ops_secret,
    board_inbound_secret: config.board_inbound_secret,
    api_keys: config.api_keys,
    demo_keys: config.demo_keys,
  };
}
