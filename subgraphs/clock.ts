import { randomBytes } from 'node:crypto';

/** Time and randomness come through the context, so that a test can hold both still. */
export interface Clock {
  now_ms(): number;
}

export interface Random {
  bytes(count: number): Uint8Array;
}

export const systemClock: Clock = { now_ms: () => Date.now() };
export const systemRandom: Random = { bytes: count => randomBytes(count) };

export function iso(at_ms: number): string {
  return new Date(at_ms).toISOString();
}
