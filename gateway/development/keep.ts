import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isAlive, type ProcessMark } from '../operations/process-identity.ts';
import { withLock } from './lock.ts';
import { endProcess, spawnDetached } from './spawn-detached.ts';

/** How long a stand-in waits for another service that uses it. Its state is on disk, and a later start continues from it. */
export const IDLE_MS = 600_000;

const KEEPER = resolve(import.meta.dirname, 'keeper.ts');
/** Folder for compiled code, so that types are stripped once and not at each start. */
const COMPILED = resolve(import.meta.dirname, '../../node_modules/.cache/spend-receipt-gateway/keeper');

/** A process that outlives the process that started it, with the data needed to end it. */
export interface StandIn {
  /** Name of the stand-in's kind. A DATA_DIR has one stand-in of each kind. */
  readonly name: string;
  readonly mark: ProcessMark;
  /** Name of the lock for starting, adopting or ending it. */
  readonly lock: string;
  /** Signals, each sent if the process still runs when the time for the previous signal has passed. */
  readonly signals: readonly NodeJS.Signals[];
  readonly idle_ms: number;
}

export interface Keeper {
  readonly mark: ProcessMark;
}

/**
 * Ends the stand-in when no tenant of the DATA_DIR has lived for `idle_ms`, even if this process is killed. One keeper serves a
 * DATA_DIR and ends with the last of its stand-ins. Call this function under the stand-in's lock, as a tenant.
 */
export async function startKeeper(data_dir: string, stand_in: StandIn): Promise<void> {
  const folder = folderIn(data_dir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeWhole(join(folder, `${stand_in.name}.json`), stand_in);
  // A keeper without stand-ins ends under the same lock, so it has either seen this stand-in or already ended.
  await withLock(keeperLock(data_dir), async () => {
    const known = await keeperOf(data_dir);
    if (known && isAlive(known.mark)) return;
    const environment = { PATH: '/usr/bin:/bin', NODE_COMPILE_CACHE: COMPILED };
    const log = join(data_dir, 'keeper.log');
    const mark = await spawnDetached(process.execPath, [KEEPER, data_dir], { log, environment });
    await writeWhole(keeperFile(data_dir), { mark } satisfies Keeper);
  });
}

/** Time limit for a clean end, in which Postgres writes its buffers to disk. */
export const END_MS_MAX = 20_000;

/**
 * Ends all stand-ins of a DATA_DIR that its last tenant has left, including those that this tenant did not use, and then their
 * keeper. Call it under the DATA_DIR's lock. A new process starts them again.
 */
export async function endStandIns(data_dir: string): Promise<void> {
  const stand_ins = await standInsOf(data_dir);
  await Promise.all(
    stand_ins.map(({ lock, mark, signals }) => withLock(lock, () => endProcess(mark, signals, END_MS_MAX))),
  );
  const known = await keeperOf(data_dir);
  if (known === null) return;
  await withLock(keeperLock(data_dir), async () => {
    // If other processes have added stand-ins, the keeper is left to end those.
    if ((await standInsOf(data_dir)).some(({ mark }) => isAlive(mark))) return;
    await endProcess(known.mark, ['SIGTERM', 'SIGKILL']);
    await rm(keeperFile(data_dir), { force: true });
  });
}

/** All stand-ins that were ever started in the DATA_DIR, running or not. */
export async function standInsOf(data_dir: string): Promise<StandIn[]> {
  const folder = folderIn(data_dir);
  const names = (await readdir(folder).catch(() => [])).filter(name => name.endsWith('.json'));
  const read = await Promise.all(names.map(name => readJson<StandIn>(join(folder, name))));
  return read.filter(stand_in => stand_in !== null);
}

export function keeperOf(data_dir: string): Promise<Keeper | null> {
  return readJson<Keeper>(keeperFile(data_dir));
}

export function keeperFile(data_dir: string): string {
  return join(data_dir, 'keeper.json');
}

export function keeperLock(data_dir: string): string {
  return `keeper:${data_dir}`;
}

function folderIn(data_dir: string): string {
  return join(data_dir, 'stand-ins');
}

async function writeWhole(path: string, value: object): Promise<void> {
  await writeFile(`${path}.new`, JSON.stringify(value), { mode: 0o600 });
  await rename(`${path}.new`, path);
}

async function readJson<T>(path: string): Promise<T | null> {
  const text = await readFile(path, 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as T);
}
