import { z } from 'zod';

/* How many entries of a list an answer has. */

interface PageSize {
  /** What the list is of, in the plural. */
  readonly of: string;
  readonly min?: number;
  readonly max: number;
  /** Left out where the page has no `limit` of its own that it falls back to. */
  readonly default?: number;
  /** A sentence more of what the number means. */
  readonly note?: string;
  /** What becomes of a larger number. Default: `clamped`. */
  readonly beyond?: 'clamped' | 'refused';
}

interface PageLimit extends PageSize {
  /** How a refusal names the bounds. Default: in zod's words. */
  readonly fault?: keyof typeof faults;
  /** To which number it is clamped here, where whoever reads the list clamps it to `max`. */
  readonly clamped_to?: number;
}

const faults = {
  range: ({ min = 1, max }: PageSize) => `is a whole number from ${min} to ${max}; a larger one is clamped`,
  start: ({ min = 1, max }: PageSize) => `is a whole number from ${min}; more than ${max} is clamped`,
} as const;

/** The member of a request that says how many. It may be left out. A clamped one may also be beyond what the graph's Int holds. */
export function pageLimit(page: PageLimit): z.ZodOptional<z.ZodInt> {
  const { min = 1, max, beyond, fault, clamped_to = max } = page;
  const params = fault === undefined ? {} : { error: faults[fault](page) };
  const counted = z.int(params).min(min, params);
  const bounded =
    beyond === 'refused' ? counted.max(max, params) : counted.overwrite(limit => Math.min(limit, clamped_to));
  return bounded.optional().describe(pageLimitWords(page));
}

/** Describes such a member. */
export function pageLimitWords({ of, min = 1, max, default: usual, note, beyond = 'clamped' }: PageSize): string {
  return [
    `Maximum number of ${of} to return, ${min} to ${max}.`,
    ...(usual === undefined ? [] : [`Default: ${usual}.`]),
    beyond === 'clamped' ? `A larger number counts as ${max}.` : 'A larger number is refused.',
    ...(note === undefined ? [] : [note]),
  ].join(' ');
}

/** Names the bounds in a refusal. */
export function pageLimitFault(page: PageSize): string {
  return faults.range(page);
}
