import { setTimeout as sleep } from 'node:timers/promises';

/* Asks something that may hang, and does not wait for it longer than so long. */

/** A scrape does not wait for a database that is away; what only that knows is left out of it. */
export const SCRAPE_MS_MAX = 1_000;

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
