import { GraphQLJSON } from 'graphql-scalars';
import { Field, Int, ObjectType } from 'type-graphql';
import { parseAtomic } from '../../../schema/amount.ts';
import { camel } from '../../../schema/camel.ts';
import type { Json } from '../../../schema/canonical-json.ts';
import type { TermsEventKind } from '../../../schema/evidence.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { PolicyNoun, ShadowPolicyNoun } from '../../../schema/policy.ts';
import {
  type BookPolicy as Kept,
  type PolicyKind,
  type PolicyMode,
  type PolicyType,
  policyKinds,
  policyModes,
} from '../../../schema/policy-kinds.ts';
import { type ProvenBy, proofMeans } from '../../../schema/principal.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { wordEnum } from '../../graph-enum.ts';
import { objectType } from '../../graph-type.ts';
import { PolicyTypeWord } from '../../words.ts';
import { BookEventKindWord } from '../ledger/row-words.ts';
import type { TermsEvent } from './changes.ts';
import type { Policies } from './set.ts';

objectType(
  'ShadowPolicy',
  'Policies that refuse nothing: `would_block` events record what they would have refused.',
  ShadowPolicyNoun,
);
export const ShownPolicy = objectType(
  'BookPolicy',
  "Policy of a book, by the specification's eight names. What is null is not set.",
  PolicyNoun,
);
export type ShownPolicy = InstanceType<typeof ShownPolicy>;

const kinds = Object.entries<PolicyKind>(policyKinds);

/** The kept policies under all their names. */
export function shownPolicy(agent_id: AgentId, { policy, shadow }: Policies): ShownPolicy {
  const shadowed = Object.keys(shadow).length === 0 ? null : membersOf(shadow);
  return { agentId: agent_id, ...membersOf(policy), shadow: shadowed };
}

function membersOf(policy: Kept): NonNullable<ShownPolicy['shadow']> {
  const kept = policy as Readonly<Record<string, unknown>>;
  const members = kinds.map(([name, { type }]) => {
    const value = kept[name];
    return [camel(name), value === undefined ? null : type === 'cap' ? parseAtomic(String(value)) : value];
  });
  return Object.fromEntries(members) as NonNullable<ShownPolicy['shadow']>;
}

export const PolicyModeWord = wordEnum(policyModes);
export const ProofMeansWord = wordEnum(proofMeans);

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
