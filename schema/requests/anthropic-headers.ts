import { z } from 'zod';

/*
 * Headers of Anthropic's clients. A beta that changes how a request is read or answered, and is not served here, must not be dropped in
 * silence. Those that are served go on to hubs of Anthropic's dialect, and the payment is bound to them; at any other hub they change
 * nothing.
 */

/** Betas by their names without the date, and why a request with them can be served by any hub. */
const servedBetas: Readonly<Record<string, string>> = {
  'prompt-caching': 'cache markers change no answer',
  'prompt-caching-scope': 'cache markers change no answer',
  'extended-cache-ttl': 'cache markers change no answer',
  'cache-diagnosis': 'nothing is told of a cache',
  'token-counting': 'tokens are counted without it',
  'token-efficient-tools': 'a model calls tools in its own way',
  'fine-grained-tool-streaming': 'arguments come as the model writes them',
  'interleaved-thinking': 'thinking is shown where it came',
  'dev-full-thinking': 'thinking is shown as it came',
  'thinking-token-count': 'tokens are told as the hub counts them',
  effort: 'the body says it',
  'structured-outputs': 'the body says it',
  'context-management': 'the body says it',
  pdfs: 'the body says it',
  'output-128k': 'a model bounds its own answers',
  'context-1m': 'a model bounds what it reads',
  'model-context-window-exceeded': 'a hub says how its answer ended',
};

/** Such as coding agents send with every request: they say who asks, and no hub is told. */
const betasOfClients: Readonly<Record<string, string>> = {
  'claude-code': 'it says which client asks',
  oauth: 'it says how a client shows who it is',
};

/** Which betas may be named: the description of each place where they are. */
export const BETAS_SERVED = `Betas, without their date: ${Object.keys(servedBetas).join(', ')}. Sent to hubs of Anthropic’s dialect. Any other is 400, but for ${Object.keys(betasOfClients).join(' and ')}, which have no effect.`;

/** A dated name: `prompt-caching-2024-07-31`. */
const DATED = /^(?<name>[a-z0-9-]+?)-\d{4}-?\d{2}-?\d{2}$/;

const isIn = (table: Readonly<Record<string, string>>, beta: string): boolean =>
  Object.hasOwn(table, beta.match(DATED)?.groups?.name ?? beta);

function requireServed(betas: readonly string[], context: z.core.$RefinementCtx): void {
  const value = betas.find(beta => !isIn(servedBetas, beta) && !isIn(betasOfClients, beta));
  if (value !== undefined) context.addIssue({ code: 'custom', message: `${value.slice(0, 100)} is not served here.` });
}

/** As a payment is bound to them: each once and in one order, without those that say who asks; undefined where there is none. */
export const Betas = z
  .array(z.string())
  .superRefine(requireServed)
  .transform(betas => [...new Set(betas)].filter(beta => isIn(servedBetas, beta)).sort())
  .nullish()
  .transform(betas => (betas?.length ? betas : undefined))
  .describe(`${BETAS_SERVED} Takes precedence over the header anthropic-beta.`);

const BetaHeader = z
  .string()
  .transform(header =>
    header
      .split(',')
      .map(value => value.trim())
      .filter(value => value !== ''),
  )
  .superRefine(requireServed)
  .describe(`Separated by commas. ${BETAS_SERVED}`);

/**
 * The versions of the API. They differ in members that Anthropic's own models take no more; what is answered is the same by both.
 * Source: https://platform.claude.com/docs/en/api/versioning
 */
const messageVersions = ['2023-06-01', '2026-10-21'] as const;

export const anthropicHeaders = {
  'anthropic-version': z
    .enum(messageVersions, { error: `is not served here: the versions are ${messageVersions.join(' and ')}` })
    .optional(),
  'anthropic-beta': BetaHeader.optional(),
} as const;
