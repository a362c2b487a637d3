import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { markOf } from './process-identity.ts';

/**
 * The processes that share a DATA_DIR. Each has a file, named by pid and start, that contains the address that it announces. All of them
 * use the same stand-ins, so only the last one that leaves may stop them.
 */
export interface Tenancy {
  /** Removes this process. `others`: other processes still use this folder, so the stand-ins must keep running. */
  leave(): Promise<{ kind: 'last' } | { kind: 'others'; pids: readonly number[] }>;
}

export interface Tenant {
  readonly pid: number;
  /** Address that the process announces to new users. Null if it announces none. */
  readonly url: string | null;
}

/**
 * Adds a process to a DATA_DIR. Joining twice has no effect. The caller must hold the lock of the DATA_DIR or of the stand-in to join and
 * to leave, because a new process could otherwise use a stand-in that is being stopped.
 */
export async function joinTenancy(data_dir: string, pid: number = process.pid): Promise<Tenancy> {
  const folder = folderIn(data_dir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const own = join(folder, nameOf(pid));
  await writeFile(own, '', { mode: 0o600, flag: 'a' });
  return {
    async leave() {
      await rm(own, { force: true });
      const pids = (await tenantsOf(data_dir)).map(tenant => tenant.pid);
      return pids.length === 0 ? { kind: 'last' } : { kind: 'others', pids };
    },
  };
}

/** Announces the address of this process, which must have joined. */
export async function announceTenant(data_dir: string, url: string): Promise<void> {
  await writeFile(join(folderIn(data_dir), nameOf(process.pid)), url, { mode: 0o600 });
}

/** The running processes of a DATA_DIR. Files of dead ones are removed. */
export async function tenantsOf(data_dir: string): Promise<Tenant[]> {
  const folder = folderIn(data_dir);
  const living: Tenant[] = [];
  for (const name of await namesIn(folder)) {
    const pid = Number(name.split('.')[0]);
    if (markOf(pid) && nameOf(pid) === name) {
      const url = await readFile(join(folder, name), 'utf8').catch(() => '');
      living.push({ pid, url: url || null });
    } else await rm(join(folder, name), { force: true });
  }
  return living;
}

/**
 * Names of the files in the folder. Empty if there is no folder, because no process has joined. @throws any other error, because the
 * processes are unknown then
 */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw fault;
  }
}

function folderIn(data_dir: string): string {
  return join(data_dir, 'running');
}

function nameOf(pid: number): string {
  return `${pid}.${markOf(pid)?.started?.split(':').at(-1) ?? 0}`;
}
