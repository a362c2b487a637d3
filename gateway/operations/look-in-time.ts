import { setTimeout as sleep } from 'node:timers/promises';

/* Asks something that may hang, and does not wait for it longer than so long. */

/** Null where it fails, or takes too long. */
export async function lookInTime<T>(look: Promise<T>, ms_max: number): Promise<T | null> {
  const seen = new AbortController();
  const late = sleep(ms_max, null, { signal: seen.signal });
  try {
    return await Promise.race([look.catch(() => null), late]);
  } finally {
    seen.abort();
    late.catch(() => {});
  }
}
