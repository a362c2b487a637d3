import { readFileSync, statfsSync } from 'node:fs';
import { chmod, lstat, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keeperOf, standInsOf } from '../../gateway/development/keep.ts';
import { endProcess } from '../../gateway/development/spawn-detached.ts';
import { isAlive, markOf } from '../../gateway/operations/process-identity.ts';
import { atEnd, isForTheWorker } from './release.ts';

const PREFIX = 'svc-test-';
/** File in a folder that a worker shares. It contains the process id of the run, which clears the folder. */
const RUN = 'run';

/**
 * Linux's file system in memory. On most machines it is large enough for the databases of a run, but not in a container with the usual 64
 * MB.
 */
const MEMORY = '/dev/shm';
const MEMORY_BYTES_MIN = 2 * 1024 ** 3;

/** Folder for files of a run that are copied often, such as databases. A copy in memory takes a tenth of the time. */
export function memoryFolder(): string {
  // If TMPDIR is set, it is meant for all temporary files.
  if (process.env.TMPDIR !== undefined) return tmpdir();
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    const [, options = ''] = / \/dev\/shm \S+ (\S+)/.exec(readFileSync('/proc/self/mounts', 'utf8')) ?? [];
    const roomy = bavail * bsize >= MEMORY_BYTES_MIN;
    // Postgres may have to be started from a copy in this folder, so the file system must allow execution.
    const runs = options !== '' && !options.split(',').includes('noexec');
    return roomy && runs ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/**
 * A new folder for one test, such as its DATA_DIR. Its name contains the id of this process, so that a later run recognises folders of
 * killed runs.
 */
export async function makeScratch(parent = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(parent, `${PREFIX}${process.pid}-`));
  // If the tests run as root, the database server runs as another user, which must be able to enter this folder.
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

/** Ends the stand-ins that still run on a folder, even if their files are elsewhere, and removes the folder. */
export async function clearScratch(folder: string): Promise<void> {
  const pointer = await readJson<{ outside: string | null }>(join(folder, 'postgres.json'));
  const cluster_home = pointer?.outside ?? join(folder, 'postgres');
  // All that a killed stand-in leaves is in the folder, except for the shared memory of a Postgres, which therefore gets its own signals.
  const keeper = await keeperOf(folder);
  if (keeper && isAlive(keeper.mark)) await endProcess(keeper.mark, ['SIGKILL']);
  for (const { name, mark, signals } of await standInsOf(folder))
    if (isAlive(mark)) await endProcess(mark, name === 'postgres' ? signals : ['SIGKILL']);
  for (const path of [cluster_home, folder]) await rm(path, { recursive: true, force: true, maxRetries: 5 });
}

/** Removes folders of killed runs of this user, whose process has ended. */
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

/** All folders of tests. The folder in memory is always included, because remains of a killed run may fill it. */
async function everyScratch(): Promise<[parent: string, name: string][]> {
  const parents = [...new Set([tmpdir(), MEMORY])];
  const names = await Promise.all(
    parents.map(async parent => (await readdir(parent).catch(() => [])).map(name => [parent, name])),
  );
  return (names.flat() as [string, string][]).filter(([, name]) => name.startsWith(PREFIX));
}

/** Checks the owner, because a pointer in another user's folder could name any folder of this user, or of root, to be removed. */
async function isOwn(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => null);
  return found !== null && found.uid === process.getuid?.();
}

async function readJson<T>(path: string): Promise<T | null> {
  const text = await readFile(path, 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as T);
}
