import { z } from 'zod';
import { limits } from '../limits.ts';

/*
 * Headers of Anthropic's clients. A beta that changes how a request is read or answered, and is not supported, must not be ignored
 * silently. Supported betas are sent to hubs of Anthropic's dialect, and the payment is bound to them; they change nothing for any other
 * hub. Betas that would change a hub's bill or identify the caller are accepted and not sent.
 */

/** Betas by name without the date, and why a request with them can be served by any hub. */
const servedBetas: Readonly<Record<string, string>> = {
  'prompt-caching': 'cache markers do not change the answer',
  'prompt-caching-scope': 'cache markers do not change the answer',
  'cache-diagnosis': 'nothing is told of a cache',
  'token-counting': 'tokens are counted without it',
  'token-efficient-tools': 'a model calls tools in its own way',
  'fine-grained-tool-streaming': 'arguments come as the model writes them',
  'interleaved-thinking': 'thinking is shown where it came',
  'thinking-token-count': 'tokens are told as the hub counts them',
  effort: 'the body says it',
  'structured-outputs': 'the body says it',
  'context-management': 'the body says it',
  pdfs: 'the body says it',
  'model-context-window-exceeded': 'a hub says how its answer ended',
};

/** Betas that are accepted and not sent. The payment is not bound to them, because they change nothing here. */
const unsentBetas: Readonly<Record<string, string>> = {
  'claude-code': 'it says which client asks',
  oauth: 'it says how a client shows who it is',
  'context-1m': 'a hub’s price is higher beyond 200,000 tokens, and a call has one price here',
  'extended-cache-ttl': 'a hub’s price is higher for a longer cache, and a call has one price here',
  'output-128k': 'it makes answers longer, and a call has one price here',
  'dev-full-thinking': 'it makes answers longer, and a call has one price here',
};

/** Names of the betas that are accepted, for each description that lists them. */
const BETAS_SERVED = `Names of betas, each with its date, such as \`effort-2025-11-24\`. Sent to hubs that use Anthropic’s API (listed here without dates): ${Object.keys(servedBetas).join(', ')}. Accepted without effect: ${Object.keys(unsentBetas).join(', ')}. Any other beta is refused with 400.`;

/** Matches `prompt-caching-2024-07-31`, and `claude-code-20250219` without hyphens. */
const DATED = /^(?<name>[a-z0-9-]+?)-(?<year>\d{4})-?(?<month>\d{2})-?(?<day>\d{2})$/;
const CalendarDate = z.iso.date();

/** Name of a beta without its date. Null if it does not end with a valid date. */
function nameWithoutDate(beta: string): string | null {
  const { name = null, year, month, day } = beta.match(DATED)?.groups ?? {};
  return CalendarDate.safeParse(`${year}-${month}-${day}`).success ? name : null;
}

const isIn = (table: Readonly<Record<string, string>>, beta: string): boolean =>
  Object.hasOwn(table, nameWithoutDate(beta) ?? '');

/** All of them are sent as one header. */
function requireServed(betas: readonly string[], context: z.core.$RefinementCtx): void {
  const message = faultOf(betas);
  if (message !== null) context.addIssue({ code: 'custom', message });
}

function faultOf(betas: readonly string[]): string | null {
  const { betas_max, betas_chars_max } = limits;
  if (betas.length > betas_max) return `has more than ${betas_max} names`;
  if (betas.join().length > betas_chars_max) return `is longer than ${betas_chars_max} characters`;
  const unserved = betas.find(beta => !isIn(servedBetas, beta) && !isIn(unsentBetas, beta));
  if (unserved !== undefined) return `names a beta that is not supported: ${unserved.slice(0, 100)}`;
  const names = [...new Set(betas)].map(nameWithoutDate);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? null : `names ${twice} with two dates`;
}

/** The betas that a payment is bound to: sorted, without duplicates and without those that are not sent. Undefined if there are none. */
export const Betas = z
  .array(z.string())
  .superRefine(requireServed)
  .transform(betas => [...new Set(betas)].filter(beta => isIn(servedBetas, beta)).sort())
  .nullish()
  .transform(betas => (betas?.length ? betas : undefined))
  .describe(`${BETAS_SERVED} By REST they take precedence over the header anthropic-beta. Default: none.`);

const BetaHeader = z
  .string()
  .transform(header =>
    header
      .split(',')
      .map(value => value.trim())
      .filter(value => value !== ''),
  )
  .superRefine(requireServed)
  .describe(`${BETAS_SERVED} Separated by commas.`);

/**
 * Versions of the API. They differ only in members that Anthropic's own models no longer take; both have the same answers.
 * Source: https://platform.claude.com/docs/en/api/versioning
 */
const messageVersions = ['2023-06-01', '2026-10-21'] as const;

export const anthropicHeaders = {
  'anthropic-version': z
    .enum(messageVersions, { error: `is not supported: the versions are ${messageVersions.join(' and ')}` })
    .optional()
    .describe(`Version of the API: ${messageVersions.join(' or ')}. Both return the same. Default: none.`),
  'anthropic-beta': BetaHeader.optional(),
} as const;
