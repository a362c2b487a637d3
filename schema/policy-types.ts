import { z } from 'zod';
import { parseAtomic } from './amount.ts';
import { limits, policyLimits } from './limits.ts';
import { storedText } from './requests/text.ts';
import { RISK_TIERS, RiskTiers } from './risk-tiers.ts';

/* How the values of policies are read, whichever policy they are of. */

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
