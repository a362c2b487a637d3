import { randomFillSync } from 'node:crypto';

/** Time and randomness come through the context, so that a test can fix both. */
export interface Clock {
  now_ms(): number;
}

export interface Random {
  bytes(count: number): Uint8Array;
}

export const systemClock: Clock = { now_ms: () => Date.now() };
export const systemRandom: Random = { bytes: drawn };

const POOL_BYTES = 4096;
let pool = new Uint8Array(0);

/**
 * Random bytes are requested from the system in larger amounts, because a request for 12 bytes costs 7 µs. Each byte is returned only once,
 * and is then erased from the pool.
 */
function drawn(count: number): Uint8Array {
  if (count > POOL_BYTES) return randomFillSync(new Uint8Array(count));
  if (count > pool.length) pool = randomFillSync(new Uint8Array(POOL_BYTES));
  const bytes = pool.slice(0, count);
  pool.fill(0, 0, count);
  pool = pool.subarray(count);
  return bytes;
}

export function iso(at_ms: number): string {
  return new Date(at_ms).toISOString();
}
