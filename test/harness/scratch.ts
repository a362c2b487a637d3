import { readFileSync, statfsSync } from 'node:fs';
import { chmod, lstat, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keeperOf, standInsOf } from '../../gateway/development/keep.ts';
import { endProcess } from '../../gateway/development/spawn-detached.ts';
import { isAlive, markOf } from '../../gateway/operations/process-identity.ts';
import { atEnd, isForTheWorker } from './release.ts';

const PREFIX = 'svc-test-';
/** File in a folder that a worker shares, with the process of the run, which clears it. */
const RUN = 'run';

/** Linux's file system in memory. Most machines have room there for the databases of a run; a container's usual 64 MB are too few. */
const MEMORY = '/dev/shm';
const MEMORY_BYTES_MIN = 2 * 1024 ** 3;

/** Folder for those files of a run that many databases are copied from and to: in memory a copy takes a tenth of the time. */
export function memoryFolder(): string {
  // A named folder for temporary files is meant for all of them.
  if (process.env.TMPDIR !== undefined) return tmpdir();
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    const [, options = ''] = / \/dev\/shm \S+ (\S+)/.exec(readFileSync('/proc/self/mounts', 'utf8')) ?? [];
    const roomy = bavail * bsize >= MEMORY_BYTES_MIN;
    // Postgres may have to be started from a copy beside its cluster.
    const runs = options !== '' && !options.split(',').includes('noexec');
    return roomy && runs ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** A DATA_DIR for one test, named after this process, so that a later run recognises what was left behind. */
export async function makeScratch(parent = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(parent, `${PREFIX}${process.pid}-`));
  // As root the database server runs as another user, which must be able to pass through.
  await chmod(folder, 0o711);
  if (isForTheWorker()) await writeFile(join(folder, RUN), String(process.ppid));
  return folder;
}

/** A folder that is cleared after the file's last test. */
export async function ownFolder(): Promise<string> {
  const folder = await makeScratch();
  atEnd(() => clearScratch(folder));
  return folder;
}

/** Ends the stand-ins that still run on a folder, wherever their files are, and removes the folder. */
export async function clearScratch(folder: string): Promise<void> {
  const pointer = await readJson<{ outside: string | null }>(join(folder, 'postgres.json'));
  const cluster_home = pointer?.outside ?? join(folder, 'postgres');
  // Their remains are in the folder, except the shared memory of a Postgres.
  const keeper = await keeperOf(folder);
  if (keeper && isAlive(keeper.mark)) await endProcess(keeper.mark, ['SIGKILL']);
  for (const { name, mark, signals } of await standInsOf(folder))
    if (isAlive(mark)) await endProcess(mark, name === 'postgres' ? signals : ['SIGKILL']);
  for (const path of [cluster_home, folder]) await rm(path, { recursive: true, force: true, maxRetries: 5 });
}

/** Removes what killed runs of this user have left: folders whose process has ended. */
export async function sweepScratch(): Promise<void> {
  for (const [parent, name] of await everyScratch()) {
    const pid = Number(name.slice(PREFIX.length).split('-')[0]);
    const folder = join(parent, name);
    if (pid && !markOf(pid) && (await isOwn(folder))) await clearScratch(folder).catch(() => {});
  }
}

/** Removes the folders that the workers of this run have shared. */
export async function clearShared(): Promise<void> {
  for (const path of await everyScratch()) {
    const folder = join(...path);
    if (!(await isOwn(folder))) continue;
    const run = await readFile(join(folder, RUN), 'utf8').catch(() => null);
    if (run === String(process.pid)) await clearScratch(folder);
  }
}

/** Always includes the folder in memory: remains of a killed run may be what fills it. */
async function everyScratch(): Promise<[parent: string, name: string][]> {
  const parents = [...new Set([tmpdir(), MEMORY])];
  const names = await Promise.all(
    parents.map(async parent => (await readdir(parent).catch(() => [])).map(name => [parent, name])),
  );
  return (names.flat() as [string, string][]).filter(([, name]) => name.startsWith(PREFIX));
}

/** In another user's folder a pointer may name any folder of this user's, or of root's, as one to be removed. */
async function isOwn(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => null);
  return found !== null && found.uid === process.getuid?.();
}

async function readJson<T>(path: string): Promise<T | null> {
  const text = await readFile(path, 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as T);
}
