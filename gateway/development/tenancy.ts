import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { markOf } from './living.ts';

/**
 * Which gateway processes live on one DATA_DIR: one empty file per process, named by pid and start.
 * The stand-ins belong to all of them, so only the last one to leave may stop them.
 */
export interface Tenancy {
  /** `others`: processes that still live here; leave the stand-ins running. */
  leave(): Promise<{ kind: 'last' } | { kind: 'others'; pids: readonly number[] }>;
}

/** Joining and leaving must happen under the DATA_DIR's lock, or a newcomer meets stand-ins that are being stopped. */
export async function joinTenancy(data_dir: string, pid: number = process.pid): Promise<Tenancy> {
  const folder = join(data_dir, 'running');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const own = join(folder, nameOf(pid));
  await writeFile(own, '', { mode: 0o600 });
  return {
    async leave() {
      await rm(own, { force: true });
      const pids = await tenantsOf(folder);
      return pids.length === 0 ? { kind: 'last' } : { kind: 'others', pids };
    },
  };
}

async function tenantsOf(folder: string): Promise<number[]> {
  const living: number[] = [];
  for (const name of await readdir(folder)) {
    const pid = Number(name.split('.')[0]);
    if (markOf(pid) && nameOf(pid) === name) living.push(pid);
    else await rm(join(folder, name), { force: true });
  }
  return living;
}

function nameOf(pid: number): string {
  return `${pid}.${markOf(pid)?.started?.split(':').at(-1) ?? 0}`;
}
