import { mkdir, open, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Work under the lock takes milliseconds; a lock older than this was left by a process that died. */
const ABANDONED_AFTER_MS = 10_000;
const RETRY_MS = 5;

/**
 * Runs `work` while no other process on this machine does so under the same path (O_EXCL: Node has no flock).
 * A stolen lock may let two run at once after a crash; callers must be safe then, and only lose their order.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  while (!(await take(path))) await sleep(RETRY_MS);
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function take(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close();
    return true;
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== 'EEXIST') throw fault;
  }
  // The file system's own clock is on both sides of the comparison as closely as a machine allows.
  const since = await stat(path)
    .then(found => found.mtimeMs)
    .catch(() => null);
  if (since !== null && Date.now() - since > ABANDONED_AFTER_MS) await rm(path, { force: true });
  return false;
}
