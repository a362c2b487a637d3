import { randomInt } from 'node:crypto';
import { freePort } from '../../gateway/development/port.ts';

/** From where no outgoing connection takes its port, and development's servers take theirs only by chance. */
const FIRST = 10_000;
const EACH = 2_000;
/** Workers are numbered from 1; more than these share. */
const WORKERS = 11;

const first = FIRST + (Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS) * EACH;
let taken = randomInt(EACH);

/**
 * A free port that this worker gives nobody else, and no other worker gives anybody: between the look whether a port is
 * free and the start of a process that listens on it lie seconds, in which the others look, too.
 */
export async function ownPort(): Promise<number> {
  for (let tries = 0; tries < EACH; tries++) {
    const port = first + (taken++ % EACH);
    if ((await freePort(port)) === port) return port;
  }
  throw new Error(`no port is free from ${first} on`);
}
