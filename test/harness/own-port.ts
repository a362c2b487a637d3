import { randomInt } from 'node:crypto';
import { freePort } from '../../gateway/development/port.ts';

/** Below the ports of outgoing connections. Development's servers use a port of this range only by chance. */
const FIRST = 10_000;
const EACH = 2_000;
/** Number of workers with a separate range. Workers are numbered from 1; further ones share ranges. */
const WORKERS = 11;

const first = FIRST + (Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS) * EACH;
let taken = randomInt(EACH);

/**
 * A free port that only this worker uses, and only once. Seconds pass between the check that a port is free and the start of a process that
 * listens on it, and other workers check ports in that time.
 */
export async function ownPort(): Promise<number> {
  for (let tries = 0; tries < EACH; tries++) {
    const port = first + (taken++ % EACH);
    if ((await freePort(port)) === port) return port;
  }
  throw new Error(`no port is free from ${first} on`);
}
