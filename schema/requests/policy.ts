import { z } from 'zod';
import type { Json } from '../canonical-json.ts';
import { Refusal } from '../errors.ts';
import { isOffered, type OfferedPolicy, type PolicyType, policyKinds, policyTypes } from '../policy-kinds.ts';
import { PossessionMembers } from './possession.ts';

/** Those that are offered, then those that are named by the specification alone. */
export const policyNames = (Object.keys(policyKinds) as PolicyType[]).toSorted(
  (one, other) => Number(isOffered(other)) - Number(isOffered(one)),
);

/** One change of a policy; a null value clears. */
export interface PolicyChange {
  readonly policy_type: OfferedPolicy;
  readonly value: string | boolean | null;
}

/** Body of POST /v1/agents/{agent_id}/book/policy; possession in it was looked at before. */
export const PolicyRequest = PossessionMembers.extend({
  policy_type: z.string().describe(`One of ${policyNames.join(', ')}.`),
  value: z.unknown().optional().describe('Any JSON, as the type wants it; null clears.'),
});

/** @throws Refusal invalid_policy for a type that is unknown or not offered, and for a value that the type does not take. */
export function parsePolicy(policy_type: string, value: Json | undefined): PolicyChange {
  if (!isOffered(policy_type)) {
    const known = Object.hasOwn(policyKinds, policy_type);
    const fault = known
      ? `${policy_type} is not offered yet.`
      : `There is no policy of type ${JSON.stringify(policy_type)}.`;
    throw invalid('policy_type', fault);
  }
  // Left out is not null: what clears a cap must be said.
  if (value === undefined) throw invalid('value', 'value is required; null clears.');
  if (value === null) return { policy_type, value };
  const { value: shape, wants } = policyTypes[policyKinds[policy_type].type];
  const parsed = shape.safeParse(value);
  if (!parsed.success) throw invalid('value', `${policy_type} ${wants}.`);
  return { policy_type, value: parsed.data };
}

function invalid(param: 'policy_type' | 'value', detail: string): Refusal {
  return new Refusal('invalid_policy', { param, detail });
}
