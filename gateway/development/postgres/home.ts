import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exists } from '../../config/data-folder.ts';
import { ConfigFault } from '../../config/fault.ts';
import { type SystemUser, succeeds } from '../spawn-detached.ts';

export interface ClusterHome {
  readonly folder: string;
  /** Of the one role, `svc`. Loopback is open to every user of the machine, so there is a password even here. */
  readonly password: string;
}

/** `DATA_DIR/postgres.json`. `outside` is null while the cluster lies in DATA_DIR/postgres, so DATA_DIR can be moved. */
interface Pointer {
  readonly outside: string | null;
  readonly password: string;
}

const OUTSIDE = 'spend-receipt-gateway';

/** The home of this DATA_DIR's cluster: found by its pointer file, or made. Call under the cluster's lock. */
export async function findHome(data_dir: string, user: SystemUser | null): Promise<ClusterHome> {
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

/** Where copies of the binaries go, so that the server's user can run them. */
export async function copiesFolder(home: ClusterHome, user: SystemUser | null): Promise<string> {
  return user ? outsideFolder(user) : home.folder;
}

async function makeFolder(inside: string, user: SystemUser | null): Promise<string> {
  await mkdir(inside, { recursive: true, mode: 0o700 });
  if (!user) return inside;
  await chown(inside, user.uid, user.gid);
  if (mayWrite(user, inside)) return inside;
  await rmdir(inside);
  // DATA_DIR lies under a folder that this user cannot enter, as below root's own 0700 home.
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

/** Somebody else's folder of that name (in /tmp anybody may make one) is not ours to put programs into. */
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
 * Whom the server runs as: ourselves, or, since Postgres refuses root, `postgres` or else `nobody`.
 * null: as ourselves.
 */
export function serverUser(): SystemUser | null {
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

/** Whether that user reaches and may write a folder: the system is asked, so access lists and mounts count too. */
function mayWrite(user: SystemUser | null, folder: string): boolean {
  return succeeds(user, 'test', ['-w', folder, '-a', '-x', folder]);
}

function mayEnter(user: SystemUser | null, folder: string): boolean {
  return succeeds(user, 'test', ['-x', folder]);
}
