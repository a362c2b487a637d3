import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { exists, makeDataFolder } from '../../config/data-folder.ts';
import { ConfigFault } from '../../config/fault.ts';
import { joinTenancy } from '../../operations/tenancy.ts';
import { IDLE_MS, startKeeper } from '../keep.ts';
import { withLock } from '../lock.ts';
import { freePort } from '../port.ts';
import { awaitProcess, endProcess, type SystemUser, spawnDetached, standInFault, succeeds } from '../spawn-detached.ts';
import { runnableBinaries } from './binaries.ts';
import { findPostmaster, type Postmaster, serves, urlOf } from './postmaster.ts';

const READY_MS = 60_000;
const ATTEMPTS = 4;
/** Signals for a fast shutdown, then an immediate one. After an immediate shutdown the next start recovers. */
const SIGNALS = ['SIGINT', 'SIGQUIT'] as const;
const environment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

export interface RunningPostgres {
  /** URL of the database `postgres`, with the superuser's password. */
  readonly url: string;
  /** Folder of the cluster: in DATA_DIR, or outside of it if the server's user cannot enter DATA_DIR. */
  readonly folder: string;
  readonly adopted: boolean;
  /** Makes a fast shutdown: open transactions are rolled back, and committed ones are on disk. */
  stop(): Promise<void>;
}

/**
 * Opens the Postgres of a DATA_DIR: adopts it if it runs (left by a killed process, or used by another), else starts it. It may be
 * called by several processes at once. It outlives them by `idle_ms` unless `stop` is called.
 */
export async function startPostgres(data_dir: string, idle_ms: number = IDLE_MS): Promise<RunningPostgres> {
  const root = await makeDataFolder(data_dir);
  const lock = `postgres:${root}`;
  return withLock(lock, async () => {
    await joinTenancy(root);
    const user = serverUser();
    const home = await findHome(root, user);
    const cluster = join(home.folder, 'cluster');
    const found = await runningServer(cluster, home);
    const server = found ?? (await launch(root, home, cluster, user));
    await startKeeper(root, { name: 'postgres', mark: server.mark, lock, signals: SIGNALS, idle_ms });
    return {
      url: urlOf(server.port, home.password),
      folder: home.folder,
      adopted: found !== null,
      stop: () => withLock(lock, () => endProcess(server.mark, SIGNALS, 20_000)),
    };
  });
}

/** Finds the cluster's server. Waits for one that is starting. For one that is stopping, waits for its end and returns null. */
async function runningServer(cluster: string, home: ClusterHome): Promise<Postmaster | null> {
  const found = await findPostmaster(cluster);
  return found && awaitProcess(found.mark, READY_MS, () => readyServer(cluster, home));
}

async function readyServer(cluster: string, { password }: ClusterHome): Promise<Postmaster | null> {
  const found = await findPostmaster(cluster);
  const ready = found?.status === 'ready' && (await serves(cluster, urlOf(found.port, password)));
  return ready ? found : null;
}

async function launch(
  data_dir: string,
  home: ClusterHome,
  cluster: string,
  user: SystemUser | null,
): Promise<Postmaster> {
  const binaries = await runnableBinaries(user, () => copiesFolder(home, user));
  await initialise(binaries, home, cluster, user);
  const port_file = join(data_dir, 'postgres.port');
  const settings = {
    port: await freePort(Number(await readFile(port_file, 'utf8').catch(() => '')) || null),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 400,
    shared_buffers: '128MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = join(data_dir, 'postgres.log');
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const args = ['-D', cluster, ...options];
    const mark = await spawnDetached(join(binaries, 'bin/postgres'), args, { log, environment, user });
    const ready = await awaitProcess(mark, READY_MS, () => readyServer(cluster, home));
    if (ready) {
      await writeFile(port_file, String(ready.port));
      return ready;
    }
    // The last backends of a killed server may use its shared memory for a moment.
    await sleep(attempt * 200);
  }
  throw await standInFault('DATABASE_URL', 'the embedded Postgres', log);
}

/**
 * Creates the cluster. initdb works under another name and the folder is renamed, so that a kill leaves no incomplete cluster.
 */
async function initialise(
  binaries: string,
  home: ClusterHome,
  cluster: string,
  user: SystemUser | null,
): Promise<void> {
  if (await exists(join(cluster, 'PG_VERSION'))) return;
  const aside = join(home.folder, 'cluster.making');
  const password_file = join(home.folder, 'password');
  await rm(aside, { recursive: true, force: true });
  await rm(password_file, { force: true });
  try {
    await writeFile(password_file, home.password, { mode: 0o600, flag: 'wx' });
    if (user) await chown(password_file, user.uid, user.gid);
    const authentication = ['--auth=scram-sha-256', `--pwfile=${password_file}`, '--username=svc'];
    const language = ['--encoding=UTF8', '--locale=C'];
    const args = ['-D', aside, ...authentication, ...language, '--no-instructions'];
    await promisify(execFile)(join(binaries, 'bin/initdb'), args, { ...user, cwd: '/', env: environment });
    await rename(aside, cluster);
  } finally {
    await rm(password_file, { force: true });
  }
}

interface ClusterHome {
  readonly folder: string;
  /** Password of the only role, `svc`. Every user of the machine can connect to loopback, so even a stand-in has a password. */
  readonly password: string;
}

/**
 * Content of `DATA_DIR/postgres.json`. `outside` is null while the cluster is in DATA_DIR/postgres, so that DATA_DIR can be moved.
 */
interface Pointer {
  readonly outside: string | null;
  readonly password: string;
}

const OUTSIDE = 'spend-receipt-gateway';

/** The folder of this DATA_DIR's cluster, found by its pointer file or created. Call it under the cluster's lock. */
async function findHome(data_dir: string, user: SystemUser | null): Promise<ClusterHome> {
  const path = join(data_dir, 'postgres.json');
  const inside = join(data_dir, 'postgres');
  const known = (await exists(path)) ? (JSON.parse(await readFile(path, 'utf8')) as Pointer) : null;
  if (known && (await exists(known.outside ?? inside))) {
    return { folder: known.outside ?? inside, password: known.password };
  }
  const folder = await makeFolder(inside, user);
  const pointer: Pointer = { outside: folder === inside ? null : folder, password: randomBytes(24).toString('hex') };
  await writeFile(path, `${JSON.stringify(pointer, null, 2)}\n`, { mode: 0o600 });
  return { folder, password: pointer.password };
}

/** Folder for copies of the binaries that the server's user can run. */
async function copiesFolder(home: ClusterHome, user: SystemUser | null): Promise<string> {
  return user ? outsideFolder(user) : home.folder;
}

async function makeFolder(inside: string, user: SystemUser | null): Promise<string> {
  await mkdir(inside, { recursive: true, mode: 0o700 });
  if (!user) return inside;
  await chown(inside, user.uid, user.gid);
  if (mayWrite(user, inside)) return inside;
  await rmdir(inside);
  // DATA_DIR is below a folder that this user cannot enter, such as root's home with mode 0700.
  const outside = join(await outsideFolder(user), randomBytes(8).toString('hex'));
  await mkdir(outside, { mode: 0o700 });
  await chown(outside, user.uid, user.gid);
  return outside;
}

async function outsideFolder(user: SystemUser): Promise<string> {
  for (const parent of ['/var/lib', tmpdir()]) {
    const folder = join(parent, OUTSIDE);
    if ((await ownFolder(folder)) && mayEnter(user, folder)) return folder;
  }
  const problem = 'not set, and /var/lib, where its stand-in would lie, is not writable; set it';
  throw new ConfigFault([{ variable: 'DATABASE_URL', problem }]);
}

/**
 * Whether the folder belongs to the current user. A folder of that name by another user (anyone can make one in /tmp) must not
 * contain programs.
 */
async function ownFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { recursive: true });
    if ((await stat(folder)).uid !== process.getuid?.()) return false;
    await chmod(folder, 0o755);
    return true;
  } catch {
    return false;
  }
}

/**
 * The user of the server. Null for the current user, unless that is root: Postgres refuses root, so the user is then `postgres`, or
 * else `nobody`.
 */
function serverUser(): SystemUser | null {
  if (process.getuid?.() !== 0) return null;
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map(line => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const account = accounts.find(([candidate]) => candidate === name);
    if (account) return { uid: Number(account[2]), gid: Number(account[3]) };
  }
  const problem = 'not set, and Postgres does not run as root: there is neither a user "postgres" nor "nobody"; set it';
  throw new ConfigFault([{ variable: 'DATABASE_URL', problem }]);
}

/**
 * Whether that user can reach and write a folder. A command run by that user checks this, so access lists and mounts count too.
 */
function mayWrite(user: SystemUser | null, folder: string): boolean {
  return succeeds(user, 'test', ['-w', folder, '-a', '-x', folder]);
}

function mayEnter(user: SystemUser | null, folder: string): boolean {
  return succeeds(user, 'test', ['-x', folder]);
}
