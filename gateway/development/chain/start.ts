import { randomInt } from 'node:crypto';
import { chmod, copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { networks } from '../../../schema/network.ts';
import { exists, makeDataFolder } from '../../config/data-folder.ts';
import { isAlive, type ProcessMark } from '../../operations/process-identity.ts';
import { joinTenancy } from '../../operations/tenancy.ts';
import { IDLE_MS, startKeeper } from '../keep.ts';
import { withLock } from '../lock.ts';
import { freePort } from '../port.ts';
import { awaitProcess, endProcess, spawnDetached, standInFault, succeeds } from '../spawn-detached.ts';
import { genesisCalls } from './genesis.ts';
import { rpc, rpcBatch } from './rpc.ts';

const READY_MS = 60_000;
/**
 * Seconds between two savings. Each writes the whole chain, 7 KB per payment ever made: after 2,000 payments, saving every second
 * would cost half a core.
 */
const SAVE_SECONDS = 5;
/** Signals that end the node. At SIGTERM it saves its state. */
const SIGNALS = ['SIGTERM', 'SIGKILL'] as const;

export interface RunningChain {
  readonly rpc_url: string;
  /** Hash of block 0. If it changes, the chain is another one with another history. */
  readonly genesis_hash: string;
  readonly adopted: boolean;
  /** Saves the state and ends the node. */
  stop(): Promise<void>;
}

export interface ChainOptions {
  /** Seconds between two savings of the state; null keeps the chain in memory only. */
  readonly save_seconds?: number | null;
  /** Time without a user after which the node ends by itself. */
  readonly idle_ms?: number;
  /** Another DATA_DIR whose keeper ends the node. Many chains that are used together need only one keeper. */
  readonly kept_in?: string;
}

/** Content of `DATA_DIR/chain/anvil.json`. It is written when the chain is complete, so an incomplete chain is never used. */
interface ChainRecord {
  readonly mark: ProcessMark;
  readonly port: number;
  readonly genesis_hash: string;
}

/**
 * Opens the Base of a DATA_DIR: adopts it if it runs, else starts it from its saved state, else creates it. A node that was killed
 * has lost the blocks after its last saving.
 */
export async function startBaseChain(data_dir: string, options: ChainOptions = {}): Promise<RunningChain> {
  const root = await makeDataFolder(data_dir);
  const folder = join(root, 'chain');
  const lock = `chain:${folder}`;
  return withLock(lock, async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await joinTenancy(root);
    const known = await readRecord(folder);
    const adopted = known !== null && (await answersAs(known));
    const chain = known && adopted ? known : await launch(folder, known, options);
    const { idle_ms = IDLE_MS, kept_in } = options;
    const name = kept_in === undefined ? 'chain' : `chain-${chain.mark.pid}`;
    await startKeeper(kept_in ?? root, { name, mark: chain.mark, lock, signals: SIGNALS, idle_ms });
    return {
      rpc_url: urlOf(chain.port),
      genesis_hash: chain.genesis_hash,
      adopted,
      stop: () => withLock(lock, () => endProcess(chain.mark, SIGNALS)),
    };
  });
}

async function launch(folder: string, known: ChainRecord | null, options: ChainOptions): Promise<ChainRecord> {
  if (known) await endProcess(known.mark, ['SIGKILL']);
  const state = join(folder, 'state.json');
  const restored = known !== null && (await soundState(state));
  if (!restored) await rm(state, { force: true });
  const port = await freePort(known?.port ?? null);
  const log = join(folder, 'anvil.log');
  const mark = await spawnDetached(await runnableAnvil(folder), anvilArguments(port, state, options), {
    log,
    // anvil stores a cache in its home folder.
    environment: { HOME: folder, PATH: '/usr/bin:/bin' },
  });
  const url = urlOf(port);
  const ready = await awaitProcess(mark, READY_MS, () => rpc<string>(url, 'eth_chainId').catch(() => null));
  if (!ready) throw await standInFault('BASE_RPC_URL', 'the development chain', log);
  if (!restored) await rpcBatch(url, genesisCalls());
  const record: ChainRecord = { mark, port, genesis_hash: await genesisHash(url) };
  await writeFile(join(folder, 'anvil.json.new'), JSON.stringify(record), { mode: 0o600 });
  await rename(join(folder, 'anvil.json.new'), join(folder, 'anvil.json'));
  return record;
}

function anvilArguments(port: number, state: string, { save_seconds = SAVE_SECONDS }: ChainOptions): string[] {
  const saving = save_seconds === null ? [] : ['--state', state, '--state-interval', String(save_seconds)];
  // Two chains that begin in the same second would have the same block 0. The gas limit in its header distinguishes them.
  const gas_limit = 30_000_000 + randomInt(1_000_000);
  return [
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--chain-id',
    String(networks.base.chain_id),
    '--silent',
    '--slots-in-an-epoch',
    '1',
    '--gas-limit',
    String(gas_limit),
    ...saving,
  ];
}

/**
 * Whether there is a state to start from. Saving rewrites the file in place, so a kill may truncate it. Then the copy from the last
 * successful start is used.
 */
async function soundState(state: string): Promise<boolean> {
  const copy = `${state}.sound`;
  if (await isJson(state)) await copyFile(state, copy);
  else if (await isJson(copy)) await copyFile(copy, state);
  return exists(state);
}

async function isJson(path: string): Promise<boolean> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) !== null;
  } catch {
    return false;
  }
}

async function answersAs(record: ChainRecord): Promise<boolean> {
  if (!isAlive(record.mark)) return false;
  const [chain_id, hash] = await Promise.all([
    rpc<string>(urlOf(record.port), 'eth_chainId').catch(() => null),
    genesisHash(urlOf(record.port)).catch(() => null),
  ]);
  return Number(chain_id) === networks.base.chain_id && hash === record.genesis_hash;
}

async function genesisHash(url: string): Promise<string> {
  const block = await rpc<{ hash: string }>(url, 'eth_getBlockByNumber', '0x0', false);
  return block.hash;
}

async function readRecord(folder: string): Promise<ChainRecord | null> {
  const text = await readFile(join(folder, 'anvil.json'), 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as ChainRecord);
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

const architectures: Partial<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Whether the package's anvil runs; undefined before this process has tried it. */
let packaged_runs: boolean | undefined;

/** Path of an anvil that runs: the package's, or a copy in `copies` if the package's is not executable and cannot be changed. */
async function runnableAnvil(copies: string): Promise<string> {
  const shipped = packagedAnvil();
  packaged_runs ??= succeeds(null, shipped, ['--version']);
  if (packaged_runs) return shipped;
  const copy = join(copies, 'anvil');
  await mkdir(copies, { recursive: true });
  await copyFile(shipped, `${copy}.${process.pid}`);
  await chmod(`${copy}.${process.pid}`, 0o700);
  await rename(`${copy}.${process.pid}`, copy);
  return copy;
}

function packagedAnvil(): string {
  const name = `@foundry-rs/anvil-${process.platform}-${architectures[process.arch] ?? process.arch}`;
  // The platform's package is a dependency of @foundry-rs/anvil, so it is resolved from that package.
  const inner = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'));
  return inner.resolve(`${name}/bin/anvil`);
}
