import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, Int, ObjectType } from 'type-graphql';
import { parseAtomic } from '../../../schema/amount.ts';
import { camel } from '../../../schema/camel.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { type BookPolicy as Kept, type PolicyKind, policyKinds } from '../../../schema/policy-kinds.ts';
import { AtomicAmountScalar } from '../../../schema/scalars.ts';
import { NOT_OFFERED } from '../../words.ts';

/** With a nullable field for each of schema/policy-kinds.ts. */
@ObjectType('BookPolicy', {
  description: "A book's policy, by the specification's eight names; what is null is not set.",
})
export class ShownPolicy {
  @Field(() => Int, { description: 'Whose book.' }) agentId!: number;
}

/** How the graph shows a type, and what it makes of the value that is kept. */
const shown = {
  cap: { type: () => AtomicAmountScalar, of: (kept: unknown) => parseAtomic(String(kept)) },
  toggle: { type: () => Boolean, of: (kept: unknown) => kept },
  names: { type: () => [String], of: (kept: unknown) => kept },
  seconds: { type: () => Int, of: (kept: unknown) => kept },
  members: { type: () => GraphQLJSONObject, of: (kept: unknown) => kept },
} as const satisfies Record<PolicyKind['type'], object>;

const kinds = Object.entries<PolicyKind>(policyKinds);
for (const [name, { type, description }] of kinds)
  Field(shown[type].type, { nullable: true, description: description ?? NOT_OFFERED })(
    ShownPolicy.prototype,
    camel(name),
  );

/** The kept policy under all its names. */
export function shownPolicy(agent_id: AgentId, policy: Kept): ShownPolicy {
  const kept = policy as Readonly<Record<string, unknown>>;
  const members = kinds.map(([name, { type }]) => {
    const value = kept[name];
    return [camel(name), value === undefined ? null : shown[type].of(value)];
  });
  return { agentId: agent_id, ...Object.fromEntries(members) };
}
