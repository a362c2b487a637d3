import { z } from 'zod';

/* The maximum number of entries on a page of a list. */

interface PageSize {
  /** Noun of the entries, in the plural. */
  readonly of: string;
  readonly min?: number;
  readonly max: number;
  /** Left out if the page has no default. */
  readonly default?: number;
  /** Another sentence for the description. */
  readonly note?: string;
  /** How a larger number is treated. Default: `clamped`. */
  readonly beyond?: 'clamped' | 'refused';
}

interface PageLimit extends PageSize {
  /** The number to which the request is clamped, if the reader of the list clamps to `max` itself. */
  readonly clamped_to?: number;
}

/** The optional member `limit` of a request. A clamped limit may exceed the graph's Int. */
export function pageLimit(page: PageLimit): z.ZodOptional<z.ZodInt> {
  const { min = 1, max, beyond, clamped_to = max } = page;
  const params = { error: pageLimitFault(page) };
  const counted = z.int(params).min(min, params);
  const bounded =
    beyond === 'refused' ? counted.max(max, params) : counted.overwrite(limit => Math.min(limit, clamped_to));
  return bounded.optional().describe(pageLimitWords(page));
}

/** Description of a limit. */
export function pageLimitWords({ of, min = 1, max, default: usual, note, beyond = 'clamped' }: PageSize): string {
  return [
    `Maximum number of ${of} to return, ${min} to ${max}.`,
    ...(usual === undefined ? [] : [`Default: ${usual}.`]),
    beyond === 'clamped' ? `A larger number counts as ${max}.` : 'A larger number is refused.',
    ...(note === undefined ? [] : [note]),
  ].join(' ');
}

/** The sentence of a refusal of an invalid limit. */
export function pageLimitFault({ min = 1, max, beyond = 'clamped' }: PageSize): string {
  return `must be a whole number from ${min} to ${max}${beyond === 'clamped' ? `; a larger one counts as ${max}` : ''}`;
}
