import { z } from 'zod';
import { parseAtomic } from './amount.ts';
import { limits, policyLimits } from './limits.ts';
import { endpointName, riskyOperations } from './paid-operations.ts';
import { listOf } from './requests/parse.ts';
import { storedText } from './requests/text.ts';

/* Validation of policy values, by type. */

const known = new Set(riskyOperations);
/** Bounded, because each name of one list is looked up in the other. */
const Names = listOf(z.string().transform(endpointName), riskyOperations.length, 0).default([]);
const RISK_TIERS = 'must be {high: [names], low: [names]} without other members, or null';

/**
 * Risk of operations: `high` requires a fresh approval at any amount; `low`, like an operation in neither list, requires none up to
 * `tier2_above`. Names are those of paid endpoints and acts, each in one list at most.
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

/** A cap in atomic USDC. An exact JSON number is accepted too and stored as digits. */
const Cap = z
  .union([z.string(), z.int().nonnegative().transform(String)])
  .refine(text => parseAtomic(text) !== null, { error: DIGITS });

/** Model ids as responses and receipts name them. `svc/auto` is not one, because the list limits what it chooses. */
const Models = z
  .array(storedText.min(1).max(limits.model_id_chars_max))
  .min(1)
  .max(policyLimits.allowed_models_max)
  .refine(ids => !ids.some(id => id.startsWith('svc/')), {
    error: 'must be ids of models. An svc/* id only chooses a model, so it is not allowed',
  })
  .refine(ids => Buffer.byteLength(ids.join('')) <= policyLimits.allowed_models_bytes_max, {
    error: `must have at most ${policyLimits.allowed_models_bytes_max} bytes of model ids in total`,
  })
  .transform(ids => [...new Set(ids)]);

/** Validation of each type, and the message for a value that has no fault of its own. */
export const policyTypes = {
  cap: { value: Cap, wants: DIGITS },
  toggle: { value: z.boolean(), wants: 'must be true, false or null' },
  models: { value: Models, wants: MODELS },
  seconds: { value: z.int().min(1).max(policyLimits.approval_ttl_seconds_max), wants: SECONDS },
  tiers: { value: RiskTiers, wants: RISK_TIERS },
} as const;
