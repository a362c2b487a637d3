import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { makeDataFolder } from '../../config/data-folder.ts';
import type { CompleteConfig } from '../../config/read-config.ts';
import { type SolanaConfig, solanaAddressOfKey } from '../../config/solana.ts';
import { isAlive, type ProcessMark } from '../../operations/process-identity.ts';
import { joinTenancy } from '../../operations/tenancy.ts';
import { usdcAccountOf } from '../../rails/solana/transfer.ts';
import { rpc } from '../chain/rpc.ts';
import { IDLE_MS, startKeeper } from '../keep.ts';
import { withLock } from '../lock.ts';
import { freePort } from '../port.ts';
import { awaitProcess, endProcess, spawnDetached, standInFault, succeeds } from '../spawn-detached.ts';
import { developmentFeePayer } from './wallets.ts';

/** Time limit of a start. It replays the journal, which takes about a millisecond per transaction. */
const READY_MS = 60_000;
const LAUNCHER = resolve(import.meta.dirname, '../../launch.js');
const PROGRAM = resolve(import.meta.dirname, 'main.ts');
const SIGNALS = ['SIGTERM', 'SIGKILL'] as const;

export interface RunningSvm {
  readonly kind: 'running';
  readonly rpc_url: string;
  /** Hash of the genesis. If it changes, the chain is another one with another history. */
  readonly genesis_hash: string;
  readonly pid: number;
  readonly adopted: boolean;
  stop(): Promise<void>;
}

/** LiteSVM is not available for this machine. */
export interface NoSvm {
  readonly kind: 'unsupported';
}

/** Content of `DATA_DIR/svm/svm.json`, written when the chain responds. */
interface SvmRecord {
  readonly mark: ProcessMark;
  readonly port: number;
  readonly genesis_hash: string;
}

/** Opens the Solana of a DATA_DIR: adopts it if it runs, else starts it from its journal. */
export async function startSvm(data_dir: string, idle_ms: number = IDLE_MS): Promise<RunningSvm | NoSvm> {
  const root = await makeDataFolder(data_dir);
  const folder = join(root, 'svm');
  const lock = `svm:${folder}`;
  return withLock(lock, async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await joinTenancy(root);
    const known = await readRecord(folder);
    const adopted = known !== null && (await answersAs(known));
    const svm = known && adopted ? known : await launch(folder, known);
    if (svm === null) return { kind: 'unsupported' };
    await startKeeper(root, { name: 'svm', mark: svm.mark, lock, signals: SIGNALS, idle_ms });
    return {
      kind: 'running',
      rpc_url: urlOf(svm.port),
      genesis_hash: svm.genesis_hash,
      pid: svm.mark.pid,
      adopted,
      stop: () => withLock(lock, () => endProcess(svm.mark, SIGNALS)),
    };
  });
}

async function launch(folder: string, known: SvmRecord | null): Promise<SvmRecord | null> {
  if (known) await endProcess(known.mark, ['SIGKILL']);
  const port = await freePort(known?.port ?? null);
  const log = join(folder, 'svm.log');
  const program = [LAUNCHER, PROGRAM, '--port', String(port), '--folder', folder];
  const environment = { HOME: folder, PATH: '/usr/bin:/bin' };
  const mark = await spawnDetached(process.execPath, program, { log, environment });
  const genesis_hash = await awaitProcess(mark, READY_MS, () => genesisHash(port).catch(() => null));
  if (genesis_hash === null) {
    if (!hasLiteSvm()) return null;
    await endProcess(mark, ['SIGKILL']);
    throw await standInFault('SOLANA_RPC_URL', 'the development Solana', log);
  }
  const record: SvmRecord = { mark, port, genesis_hash };
  await writeFile(join(folder, 'svm.json.new'), JSON.stringify(record), { mode: 0o600 });
  await rename(join(folder, 'svm.json.new'), join(folder, 'svm.json'));
  return record;
}

/** Whether LiteSVM can be loaded. Its native code is an optional package for each platform, and some platforms have none. */
function hasLiteSvm(): boolean {
  try {
    const module = createRequire(import.meta.url).resolve('litesvm');
    return succeeds(null, process.execPath, ['-e', `require(${JSON.stringify(module)})`]);
  } catch {
    return false;
  }
}

async function answersAs({ mark, port, genesis_hash }: SvmRecord): Promise<boolean> {
  return isAlive(mark) && (await genesisHash(port).catch(() => null)) === genesis_hash;
}

function genesisHash(port: number): Promise<string> {
  return rpc<string>(urlOf(port), 'getGenesisHash');
}

async function readRecord(folder: string): Promise<SvmRecord | null> {
  const text = await readFile(join(folder, 'svm.json'), 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as SvmRecord);
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

type SolanaVariables = Pick<
  CompleteConfig,
  'solana_rpc_url' | 'pay_to_solana' | 'solana_fee_payer_key' | 'facilitator_url'
>;

/** Settings of payments on Solana, with a configured node or the stand-in; null without either. */
export async function solanaOn(given: SolanaVariables, rpc_url: string | null): Promise<SolanaConfig | null> {
  if (rpc_url === null) return null;
  const own_key = given.solana_fee_payer_key ?? developmentFeePayer.private_key;
  const fee_payer_key = given.facilitator_url ? null : own_key;
  const solana = { rpc_url, pay_to: given.pay_to_solana, fee_payer_key };
  if (!given.solana_rpc_url) await equip(solana);
  return solana;
}

const LAMPORTS = '1000000000000';

/** Gives a configured treasury and fee payer the accounts that every payment needs. */
async function equip({ rpc_url, pay_to, fee_payer_key }: SolanaConfig): Promise<void> {
  const { value: account } = await rpc<{ value: unknown }>(rpc_url, 'getAccountInfo', await usdcAccountOf(pay_to));
  if (account === null) await rpc(rpc_url, 'dev_fund', pay_to);
  if (fee_payer_key === null) return;
  const fee_payer = solanaAddressOfKey(fee_payer_key);
  const { value: lamports } = await rpc<{ value: number }>(rpc_url, 'getBalance', fee_payer);
  if (lamports === 0) await rpc(rpc_url, 'dev_fund', fee_payer, { lamports: LAMPORTS });
}
