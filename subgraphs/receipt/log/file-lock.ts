import { closeSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Work under the lock takes less than a millisecond, so a process that has held it for this long is dead or suspended. */
const ABANDONED_AFTER_MS = 1_000;
const RETRY_MS = 5;

/**
 * Runs `work` while no other process on this machine does so under the same path (O_EXCL, because Node has no flock). `work` is synchronous
 * and short, so that a process is rarely suspended while it holds the lock. If one is suspended, the next process takes the lock. `held`
 * then returns false, and the first process must not write, because its data is out of date.
 */
export async function withFileLock<T>(path: string, work: (held: () => boolean) => T): Promise<T> {
  for (;;) {
    const since_ms = performance.now();
    const held = () => performance.now() - since_ms < ABANDONED_AFTER_MS;
    if (take(path)) {
      try {
        return work(held);
      } finally {
        if (held()) rmSync(path, { force: true });
      }
    }
    await sleep(RETRY_MS);
  }
}

function take(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600));
    return true;
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    // The folder is missing only before its first lock.
    if (code === 'ENOENT') return mkdirSync(dirname(path), { recursive: true }) !== undefined && take(path);
    if (code !== 'EEXIST') throw fault;
  }
  // Compares the two clocks directly, because the file system takes its time from the clock of the same machine.
  const since = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (since !== undefined && Date.now() - since > ABANDONED_AFTER_MS) rmSync(path, { force: true });
  return false;
}
