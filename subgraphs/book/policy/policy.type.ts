import { GraphQLJSON, GraphQLJSONObject } from 'graphql-scalars';
import { Field, Int, ObjectType } from 'type-graphql';
import { parseAtomic } from '../../../schema/amount.ts';
import { camel } from '../../../schema/camel.ts';
import type { Json } from '../../../schema/canonical-json.ts';
import type { TermsEventKind } from '../../../schema/evidence.ts';
import type { AgentId } from '../../../schema/ids.ts';
import {
  type BookPolicy as Kept,
  type PolicyKind,
  type PolicyMode,
  type PolicyType,
  policyKinds,
} from '../../../schema/policy-kinds.ts';
import type { ProvenBy } from '../../../schema/principal.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { graphEnum } from '../../graph-enum.ts';
import { PolicyTypeWord } from '../../words.ts';
import { BookEventKindWord } from '../ledger/row-words.ts';
import type { TermsEvent } from './changes.ts';
import type { Policies } from './set.ts';

/** With a nullable field for each of schema/policy-kinds.ts. */
@ObjectType('ShadowPolicy', {
  description: 'Policies that refuse nothing: what they would have refused is told by `would_block` events.',
})
class ShownShadow {}

/** The same. */
@ObjectType('BookPolicy', {
  description: "A book's policy, by the specification's eight names; what is null is not set.",
})
export class ShownPolicy {
  @Field(() => Int, { description: 'Whose book.' }) agentId!: number;
  @Field(() => ShownShadow, { nullable: true, description: 'What is set in shadow mode; null where nothing is.' })
  shadow!: ShownShadow | null;
}

/** How the graph shows a type, and what it makes of the value that is kept. */
const shown = {
  cap: { type: () => AtomicAmountScalar, of: (kept: unknown) => parseAtomic(String(kept)) },
  toggle: { type: () => Boolean, of: (kept: unknown) => kept },
  models: { type: () => [String], of: (kept: unknown) => kept },
  seconds: { type: () => Int, of: (kept: unknown) => kept },
  tiers: { type: () => GraphQLJSONObject, of: (kept: unknown) => kept },
} as const satisfies Record<PolicyKind['type'], object>;

const kinds = Object.entries<PolicyKind>(policyKinds);
for (const { prototype } of [ShownPolicy, ShownShadow])
  for (const [name, { type, description }] of kinds)
    Field(shown[type].type, { nullable: true, description })(prototype, camel(name));

/** The kept policies under all their names. */
export function shownPolicy(agent_id: AgentId, { policy, shadow }: Policies): ShownPolicy {
  const shadowed = Object.keys(shadow).length === 0 ? null : membersOf(shadow);
  return { agentId: agent_id, ...membersOf(policy), shadow: shadowed };
}

function membersOf(policy: Kept): object {
  const kept = policy as Readonly<Record<string, unknown>>;
  const members = kinds.map(([name, { type }]) => {
    const value = kept[name];
    return [camel(name), value === undefined ? null : shown[type].of(value)];
  });
  return Object.fromEntries(members);
}

export const PolicyModeWord = graphEnum<PolicyMode>('PolicyMode', 'What a policy does.', {
  enforce: 'It refuses calls.',
  shadow: 'It lets them pass, and leaves a `would_block` event on the book.',
});

export const ProofMeansWord = graphEnum<ProvenBy['by']>('ProofMeans', 'By what a book was opened.', {
  session: 'The session itself.',
  plain_proof: 'A proof of the plain form.',
  bound_proof: 'A proof that was bound to its request.',
});

@ObjectType('PolicyChange', { description: 'A change of what a book allows: an event of the book.' })
export class ShownChange {
  @Field(() => Int, { description: 'Its place among the events of the book.' }) position!: number;
  @Field(() => BookEventKindWord, { description: '`policy_changed` or `budget_changed`.' }) kind!: TermsEventKind;
  @Field(() => PolicyTypeWord, { nullable: true, description: 'Which policy; null where it was the budget.' })
  policyType!: PolicyType | null;
  @Field(() => PolicyModeWord, { nullable: true, description: 'In which mode; null where it was the budget.' })
  mode!: PolicyMode | null;
  @Field(() => GraphQLJSON, { nullable: true, description: 'What was set before; null where nothing was.' })
  before!: Json;
  @Field(() => GraphQLJSON, { nullable: true, description: 'What is set from then on; null where it was cleared.' })
  after!: Json;
  @Field(() => Int, { description: 'How often either was changed, this time included.' }) policyVersion!: number;
  @Field(() => DateTimeScalar, { description: 'When.' }) at!: Date;
  @Field(() => ProofMeansWord, { nullable: true, description: 'By what whoever did it had opened the book.' })
  by!: ProvenBy['by'] | null;
  @Field(() => String, { nullable: true, description: 'Of the session behind that: SHA-256, its first 16 hex digits.' })
  session!: string | null;
}

export function shownChange({ position, kind, at, body }: TermsEvent): ShownChange {
  const { policy_type = null, before, after, policy_version, by } = body;
  const mode = policy_type === null ? null : (body.mode ?? 'enforce');
  return {
    position,
    kind,
    policyType: policy_type,
    mode,
    before,
    after,
    policyVersion: policy_version,
    at,
    by: by?.by ?? null,
    session: by?.session ?? null,
  };
}
