import { execFile } from 'node:child_process';
import { chown, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { exists, makeDataFolder } from '../../config/data-folder.ts';
import { joinTenancy } from '../../operations/tenancy.ts';
import { IDLE_MS, keep } from '../keep.ts';
import { withLock } from '../lock.ts';
import { freePort } from '../port.ts';
import { awaitProcess, endProcess, type SystemUser, spawnDetached } from '../spawn-detached.ts';
import { standInFault } from '../stand-in-fault.ts';
import { runnableBinaries } from './binaries.ts';
import { type ClusterHome, copiesFolder, findHome, serverUser } from './home.ts';
import { findPostmaster, type Postmaster, serves, urlOf } from './postmaster.ts';

const READY_MS = 60_000;
const ATTEMPTS = 4;
/** A fast shutdown; one that does not come to its end is recovered from at the next start. */
const SIGNALS = ['SIGINT', 'SIGQUIT'] as const;
const environment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

export interface RunningPostgres {
  /** Of database `postgres`, with the superuser's password. */
  readonly url: string;
  /** Where the cluster lies: in DATA_DIR, or outside when its user cannot enter there. */
  readonly folder: string;
  readonly adopted: boolean;
  /** Fast shutdown: open transactions are rolled back, what was committed is on disk. */
  stop(): Promise<void>;
}

/**
 * The Postgres of a DATA_DIR: adopted when one runs (left by a killed process, or of a process beside us), or else
 * started. Any number of processes may call at once. It outlives us unless `stop` is called, by `idle_ms`.
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
    await keep(root, { name: 'postgres', mark: server.mark, lock, signals: SIGNALS, idle_ms });
    return {
      url: urlOf(server.port, home.password),
      folder: home.folder,
      adopted: found !== null,
      stop: () => withLock(lock, () => endProcess(server.mark, SIGNALS, 20_000)),
    };
  });
}

/** A server that is starting is waited for; one that is stopping or dying is waited out, and then there is none. */
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
    // The last backends of a server that was killed may still hold its shared memory, for a moment.
    await sleep(attempt * 200);
  }
  throw await standInFault('DATABASE_URL', 'the embedded Postgres', log);
}

/** initdb works aside and the folder is renamed: a kill in its midst leaves no half cluster behind. */
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
