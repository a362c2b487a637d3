import { z } from 'zod';
import { type PolicyKind, type PolicyType, type PolicyValue, policyKinds } from '../../schema/policy-kinds.ts';
import { Atomic, nameComponents } from '../answer-shapes.ts';

/* A book's policy in REST answers, made of the one table of its kinds; null where unset. */

const types = {
  cap: Atomic,
  toggle: z.boolean(),
  models: z.array(z.string()),
  seconds: z.int(),
  tiers: z.object({ high: z.array(z.string()), low: z.array(z.string()) }),
} as const satisfies Record<PolicyKind['type'], z.ZodType>;

const members = Object.entries<PolicyKind>(policyKinds).map(([name, { type, rest_description }]) => {
  const member = types[type].nullable();
  return [name, rest_description === undefined ? member : member.describe(rest_description)] as const;
});

type Values = { readonly [K in PolicyType]: PolicyValue<K> | null };
type Answer = { readonly agent_id: number; readonly shadow: Values | null } & Values;

const values = z.object(Object.fromEntries<z.ZodType>(members)) as z.ZodType as z.ZodType<Values>;

export const PolicyAnswer: z.ZodType<Answer> = z.object({
  agent_id: z.int(),
  ...Object.fromEntries<z.ZodType>(members),
  shadow: values.nullable().describe('What is set in shadow mode: it refuses nothing, and tells what it would have.'),
}) as z.ZodType as z.ZodType<Answer>;
nameComponents({ BookPolicy: PolicyAnswer, ShadowPolicy: values });
