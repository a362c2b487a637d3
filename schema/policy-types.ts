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
const RISK_TIERS = 'must be {high: [names], low: [names]} without other members, or null';

/**
 * Which operations are how risky: `high` ones need a fresh approval at any amount, `low` ones none up to `tier2_above`, as
 * all that is in neither list. Names are those of paid endpoints and of acts, each in one list, once.
 */
const RiskTiers = z
  .strictObject({ high: Names, low: Names }, { error: RISK_TIERS })
  .superRefine(({ high, low }, { addIssue }) => {
    const unknown = [...high, ...low].find(name => !known.has(name));
    if (unknown !== undefined)
      addIssue(
        `contains ${JSON.stringify(unknown.slice(0, 64))}, which is not a known name. The names are ${riskyOperations.join(', ')}`,
      );
    const twice = high.find(name => low.includes(name));
    if (twice !== undefined && unknown === undefined) addIssue(`must not have ${twice} both in high and in low`);
  })
  .transform(({ high, low }) => ({ high: [...new Set(high)], low: [...new Set(low)] }));

const DIGITS = 'must be a string of digits (atomic USDC) or null';
const MODELS = `must be a list of 1 to ${policyLimits.allowed_models_max} model ids, each of 1 to ${limits.model_id_chars_max} characters, or null`;
const SECONDS = `must be a whole number of seconds from 1 to ${policyLimits.approval_ttl_seconds_max}, or null`;

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
    error: 'must name the models that may answer. svc/* is not a model but a choice of one',
  })
  .refine(ids => Buffer.byteLength(ids.join('')) <= policyLimits.allowed_models_bytes_max, {
    error: `must have at most ${policyLimits.allowed_models_bytes_max} bytes of model ids in total`,
  })
  .transform(ids => [...new Set(ids)]);

/** How values of a type are read, and what is said of one that cannot be where its own fault is not. */
export const policyTypes = {
  cap: { value: Cap, wants: DIGITS },
  toggle: { value: z.boolean(), wants: 'must be true, false or null' },
  models: { value: Models, wants: MODELS },
  seconds: { value: z.int().min(1).max(policyLimits.approval_ttl_seconds_max), wants: SECONDS },
  tiers: { value: RiskTiers, wants: RISK_TIERS },
} as const;
