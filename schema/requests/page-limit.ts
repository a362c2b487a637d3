import { z } from 'zod';

/**
 * How many of a page, from 1: a larger number is clamped, not refused, also where it is beyond what the graph's Int holds. `error`: what
 * a refusal says, in place of zod's words.
 */
export function clampedLimit(max: number, error?: string) {
  const params = error === undefined ? {} : { error };
  return z
    .int(params)
    .min(1, params)
    .overwrite(limit => Math.min(limit, max));
}
