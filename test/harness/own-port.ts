import { randomInt } from 'node:crypto';
import { freePort } from '../../gateway/development/port.ts';

/** Below the ports of outgoing connections; development's servers use a port from here only by chance. */
const FIRST = 10_000;
const EACH = 2_000;
/** Workers are numbered from 1; beyond this number they share ranges. */
const WORKERS = 11;

const first = FIRST + (Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS) * EACH;
let taken = randomInt(EACH);

/**
 * A free port that this worker uses once, and no other worker uses. Seconds pass between the look whether a port is free
 * and the start of a process that listens on it, in which other workers look, too.
 */
export async function ownPort(): Promise<number> {
  for (let tries = 0; tries < EACH; tries++) {
    const port = first + (taken++ % EACH);
    if ((await freePort(port)) === port) return port;
  }
  throw new Error(`no port is free from ${first} on`);
}
