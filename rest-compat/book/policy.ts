import { z } from 'zod';
import { camel } from '../../schema/camel.ts';
import { type PolicyKind, type PolicyType, type PolicyValue, policyKinds } from '../../schema/policy-kinds.ts';
import { Atomic, JsonMembers, nameComponents } from '../answer-shapes.ts';

/* A book's policy in REST answers, made of the one table of its kinds; null where unset. */

const types = {
  cap: Atomic,
  toggle: z.boolean(),
  names: z.array(z.string()),
  seconds: z.int(),
  members: JsonMembers,
} as const satisfies Record<PolicyKind['type'], z.ZodType>;

const members = Object.entries<PolicyKind>(policyKinds).map(([name, { type, rest_description }]) => {
  const member = types[type].nullable();
  return [name, rest_description === undefined ? member : member.describe(rest_description)] as const;
});

type Answer = { readonly agent_id: number } & { readonly [K in PolicyType]: PolicyValue<K> | null };

export const PolicyAnswer: z.ZodType<Answer> = z.object({
  agent_id: z.int(),
  ...Object.fromEntries<z.ZodType>(members),
}) as z.ZodType as z.ZodType<Answer>;
nameComponents({ BookPolicy: PolicyAnswer });

const selections = Object.keys(policyKinds).map(name => (camel(name) === name ? name : `${name}: ${camel(name)}`));
/** As doors spread it. */
export const policyFragments = {
  PolicyAnswer: `fragment PolicyAnswer on BookPolicy { agent_id: agentId ${selections.join(' ')} }`,
} as const;
