import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/** First port that is used, because lower ports belong to well-known services. */
const FIRST = 10_000;
const LAST = 65_535;
const TRIES = 100;
/** Ephemeral ports (RFC 6335 section 6), used if the system's own range is unknown. */
const DYNAMIC = { low: 49_152, high: LAST };

/**
 * `wished` if it is free, so that stored addresses stay valid. Otherwise a free port that no outgoing connection gets. A port that
 * the system chooses could be in use when its server starts again.
 */
export async function freePort(wished: number | null = null): Promise<number> {
  const kept = wished === null ? null : await tryPort(wished);
  return kept ?? (await quietPort()) ?? (await tryPort(0)) ?? Promise.reject(new Error('no free port'));
}

async function quietPort(): Promise<number | null> {
  const { low, high } = outgoingRange();
  const below = Math.max(low - FIRST, 0);
  const count = below + Math.max(LAST - Math.max(high, FIRST - 1), 0);
  for (let tries = 0; tries < TRIES && count > 0; tries++) {
    const chosen = randomInt(count);
    const port = await tryPort(chosen < below ? FIRST + chosen : LAST - (chosen - below));
    if (port !== null) return port;
  }
  return null;
}

function outgoingRange(): { low: number; high: number } {
  try {
    const [low, high] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').trim().split(/\s+/).map(Number);
    return low && high ? { low, high } : DYNAMIC;
  } catch {
    return DYNAMIC;
  }
}

function tryPort(port: number): Promise<number | null> {
  return new Promise(resolve => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : null));
    });
  });
}
