import { z } from 'zod';
import { parseAtomic } from '../amount.ts';
import type { Json } from '../canonical-json.ts';
import { Refusal } from '../errors.ts';
import { PossessionMembers } from './possession.ts';

/** A cap in atomic USDC. A JSON number that is exact is taken too; it is kept as the string that it spells. */
const Cap = z
  .union([z.string(), z.int().nonnegative().transform(String)])
  .refine(text => parseAtomic(text) !== null, { error: 'is not a string of digits (atomic USDC)' });

/** What a book's owner may set, and the values that each takes. What is not enforced yet is not offered: see `notYet`. */
const offered = {
  daily_cap: Cap,
  hourly_cap: Cap,
  kill_switch: z.boolean(),
  require_payment_ref: z.boolean(),
} as const;

/** Named by the specification and answered with 400: a rule that is stored and not kept would be worse than none. */
const notYet = ['model_allowlist', 'tier2_above', 'approval_ttl', 'risk_tiers'] as const;

export const policyTypes = [...(Object.keys(offered) as OfferedPolicy[]), ...notYet];
export type PolicyType = (typeof policyTypes)[number];
type OfferedPolicy = keyof typeof offered;

/** A book's policy as it is kept: what is not set is not there. Amounts are digits. */
export type BookPolicy = { readonly [K in OfferedPolicy]?: z.output<(typeof offered)[K]> };

/** One change of a policy; a null value clears. */
export interface PolicyChange {
  readonly policy_type: OfferedPolicy;
  readonly value: string | boolean | null;
}

/** Body of POST /v1/agents/{agent_id}/book/policy; possession in it was looked at before. */
export const PolicyRequest = PossessionMembers.extend({
  policy_type: z.string().describe(`One of ${policyTypes.join(', ')}.`),
  value: z.unknown().optional().describe('Any JSON, as the type wants it; null clears.'),
});

/** @throws Refusal invalid_policy for a type that is unknown or not offered, and for a value that the type does not take. */
export function parsePolicy(policy_type: string, value: Json | undefined): PolicyChange {
  if ((notYet as readonly string[]).includes(policy_type))
    throw invalid('policy_type', `${policy_type} is not offered yet.`);
  if (!isOffered(policy_type))
    throw invalid('policy_type', `There is no policy of type ${JSON.stringify(policy_type)}.`);
  // Left out is not null: what clears a cap must be said.
  if (value === undefined) throw invalid('value', 'value is required; null clears.');
  if (value === null) return { policy_type, value };
  const parsed = offered[policy_type].safeParse(value);
  if (!parsed.success) throw invalid('value', `${policy_type} ${wants[policy_type]}.`);
  return { policy_type, value: parsed.data };
}

const wants: Readonly<Record<OfferedPolicy, string>> = {
  daily_cap: 'is a string of digits (atomic USDC) or null',
  hourly_cap: 'is a string of digits (atomic USDC) or null',
  kill_switch: 'is true, false or null',
  require_payment_ref: 'is true, false or null',
};

function isOffered(policy_type: string): policy_type is OfferedPolicy {
  return Object.hasOwn(offered, policy_type);
}

function invalid(param: 'policy_type' | 'value', detail: string): Refusal {
  return new Refusal('invalid_policy', { param, detail });
}
