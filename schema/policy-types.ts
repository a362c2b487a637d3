import { z } from 'zod';
import { parseAtomic } from './amount.ts';
import { limits, policyLimits } from './limits.ts';
import { endpointName, riskyOperations } from './paid-operations.ts';
import { listOf } from './requests/parse.ts';
import { storedText } from './requests/text.ts';

/* How the values of policies are read, whichever policy they are of. */

const known = new Set(riskyOperations);
/** Each name of one list is looked for in the other: of lists without an end nobody would see that. */
const Names = listOf(z.string().transform(endpointName), riskyOperations.length, 0).default([]);
const RISK_TIERS = 'is {high: [names], low: [names]} and no more, or null';

/**
 * Which operations are how risky: `high` ones need a fresh approval at any amount, `low` ones none up to `tier2_above`, as
 * all that is in neither list. Names are those of paid endpoints and of acts, each in one list, once.
 */
const RiskTiers = z
  .strictObject({ high: Names, low: Names }, { error: RISK_TIERS })
  .superRefine(({ high, low }, { addIssue }) => {
    const unknown = [...high, ...low].find(name => !known.has(name));
    if (unknown !== undefined)
      addIssue(`names ${JSON.stringify(unknown.slice(0, 64))}; known are ${riskyOperations.join(', ')}`);
    const twice = high.find(name => low.includes(name));
    if (twice !== undefined && unknown === undefined) addIssue(`has ${twice} both in high and in low`);
  })
  .transform(({ high, low }) => ({ high: [...new Set(high)], low: [...new Set(low)] }));

const DIGITS = 'is a string of digits (atomic USDC) or null';
const MODELS = `is a list of 1 to ${policyLimits.allowed_models_max} model ids, each of 1 to ${limits.model_id_chars_max} characters, or null`;
const SECONDS = `is a whole number of seconds from 1 to ${policyLimits.approval_ttl_seconds_max}, or null`;

/** A cap in atomic USDC. A JSON number that is exact is taken too; it is kept as the string that it spells. */
const Cap = z
  .union([z.string(), z.int().nonnegative().transform(String)])
  .refine(text => parseAtomic(text) !== null, { error: DIGITS });

/** Ids as answers and receipts name them. What `svc/auto` chooses is limited by them, so that is not one. */
const Models = z
  .array(storedText.min(1).max(limits.model_id_chars_max))
  .min(1)
  .max(policyLimits.allowed_models_max)
  .refine(ids => !ids.some(id => id.startsWith('svc/')), {
    error: 'names the models that may answer; svc/* is not one of them, it stands for a choice',
  })
  .refine(ids => Buffer.byteLength(ids.join('')) <= policyLimits.allowed_models_bytes_max, {
    error: `names models by more than ${policyLimits.allowed_models_bytes_max} bytes together`,
  })
  .transform(ids => [...new Set(ids)]);

/** How values of a type are read, and what is said of one that cannot be where its own fault is not. */
export const policyTypes = {
  cap: { value: Cap, wants: DIGITS },
  toggle: { value: z.boolean(), wants: 'is true, false or null' },
  models: { value: Models, wants: MODELS },
  seconds: { value: z.int().min(1).max(policyLimits.approval_ttl_seconds_max), wants: SECONDS },
  tiers: { value: RiskTiers, wants: RISK_TIERS },
} as const;
