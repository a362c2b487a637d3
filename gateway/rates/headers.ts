import type { Rate, RateName } from '../config/rates.ts';
import type { MeterTurn } from './rate.ts';

/** `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10): quota and window, what is left and for how long. */
export function rateHeaders(
  name: RateName,
  { count, seconds }: Rate,
  turn: MeterTurn,
): Readonly<Record<string, string>> {
  return {
    'RateLimit-Policy': `"${name}";q=${count};w=${seconds}`,
    RateLimit: `"${name}";r=${turn.remaining};t=${turn.reset_seconds}`,
  };
}

/** The same of a room that is full: a quota of bytes at once, in no window. */
export function roomHeaders(name: 'bodies', bytes_max: number): Readonly<Record<string, string>> {
  return { 'RateLimit-Policy': `"${name}";q=${bytes_max};qu="content-bytes"`, RateLimit: `"${name}";r=0` };
}
