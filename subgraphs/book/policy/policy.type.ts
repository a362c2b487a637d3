import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, Int, ObjectType } from 'type-graphql';
import { type AtomicAmount, parseAtomic } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { BookPolicy as Kept } from '../../../schema/requests/policy.ts';
import { AtomicAmountScalar } from '../../../schema/scalars.ts';

@ObjectType({ description: "A book's policy, by the specification's eight names; what is null is not set." })
export class BookPolicy {
  @Field(() => Int) agentId!: number;
  @Field(() => AtomicAmountScalar, { nullable: true, description: 'Atomic USDC per UTC day.' })
  dailyCap!: AtomicAmount | null;
  @Field(() => AtomicAmountScalar, { nullable: true, description: 'Atomic USDC per UTC clock hour.' })
  hourlyCap!: AtomicAmount | null;
  @Field(() => [String], { nullable: true }) modelAllowlist!: string[] | null;
  @Field(() => Boolean, { nullable: true, description: 'On, it lets no call pass.' }) killSwitch!: boolean | null;
  @Field(() => Boolean, { nullable: true, description: 'On, it lets no call pass that a key stands in for.' })
  requirePaymentRef!: boolean | null;
  @Field(() => AtomicAmountScalar, { nullable: true }) tier2Above!: AtomicAmount | null;
  @Field(() => Int, { nullable: true }) approvalTtl!: number | null;
  @Field(() => GraphQLJSONObject, { nullable: true }) riskTiers!: JsonObject | null;
}

const notOffered = {
  modelAllowlist: null,
  tier2Above: null,
  approvalTtl: null,
  riskTiers: null,
} as const;

/** The kept policy under all eight names. */
export function shownPolicy(agent_id: AgentId, policy: Kept): BookPolicy {
  const { daily_cap, hourly_cap, kill_switch, require_payment_ref } = policy;
  return {
    agentId: agent_id,
    dailyCap: daily_cap === undefined ? null : parseAtomic(daily_cap),
    hourlyCap: hourly_cap === undefined ? null : parseAtomic(hourly_cap),
    killSwitch: kill_switch ?? null,
    requirePaymentRef: require_payment_ref ?? null,
    ...notOffered,
  };
}
