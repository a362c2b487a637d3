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
  type PolicyType,
  policyKinds,
} from '../../../schema/policy-kinds.ts';
import type { ProvenBy } from '../../../schema/principal.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { graphEnum } from '../../graph-enum.ts';
import { NOT_OFFERED, PolicyTypeWord } from '../../words.ts';
import { BookEventKindWord } from '../ledger/row-words.ts';
import type { TermsEvent } from './changes.ts';

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

const ProofMeansWord = graphEnum<ProvenBy['by']>('ProofMeans', 'By what a book was opened.', {
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
  return {
    position,
    kind,
    policyType: policy_type,
    before,
    after,
    policyVersion: policy_version,
    at,
    by: by?.by ?? null,
    session: by?.session ?? null,
  };
}
