import { Directive, Field, Int, ObjectType } from 'type-graphql';
import { type AtomicAmount, atomicAmount } from '../../../../schema/amount.ts';
import type { AgentId } from '../../../../schema/ids.ts';
import { limits } from '../../../../schema/limits.ts';
import { type PolicyCode, type PolicyType, policyKinds } from '../../../../schema/policy-kinds.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../../schema/scalars.ts';
import { PolicyCodeWord, PolicyTypeWord } from '../../../words.ts';
import type { SimulatedBlock, SimulationPage } from './run.ts';
import { nothingCounted } from './simulate.ts';

@ObjectType({ description: 'A call that the book let pass, and that the policies which are tried would have refused.' })
export class SimulatedRefusal {
  @Field(() => String, { description: 'Its task.' }) taskId!: string;
  @Field(() => Int, { description: 'Its place in the book.' }) seq!: number;
  @Field(() => DateTimeScalar, { description: 'When it was collected, or else recorded: it is judged as of then.' })
  collectedAt!: Date;
  @Field(() => AtomicAmountScalar, { nullable: true, description: 'What it cost; null where a key stood in.' })
  amount!: AtomicAmount | null;
  @Field(() => PolicyCodeWord, { description: 'Which rule would have refused it.' }) policyCode!: PolicyCode;
  @Field(() => PolicyTypeWord, { nullable: true, description: 'Where a cap of a clock period would have.' })
  policyKey!: PolicyType | null;
  @Field(() => AtomicAmountScalar, { description: 'Spent under that rule by then, without what was blocked before.' })
  spentAtomic!: AtomicAmount;
  @Field(() => AtomicAmountScalar, { nullable: true, description: 'Null where no amount decides.' })
  capAtomic!: AtomicAmount | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Null where no clock period decides.' })
  periodStart!: Date | null;
  @Field(() => String, { description: 'The same in words.' }) reason!: string;
}

@ObjectType({ description: 'What one rule would have refused.' })
export class SimulatedSum {
  @Field(() => PolicyCodeWord, { description: 'Which.' }) policyCode!: PolicyCode;
  @Field(() => Int, { description: 'Calls.' }) count!: number;
  @Field(() => AtomicAmountScalar, { description: 'What they cost.' }) amount!: AtomicAmount;
}

@ObjectType({
  description:
    'A page of a simulation. Its sums are over all that was looked at up to `throughSeq`, by the pages before it too.',
})
export class PolicySimulation {
  @Field(() => Int, { description: 'Whose book.' }) agentId!: number;
  @Directive(`@listSize(assumedSize: ${limits.book_page_rows_max})`)
  @Field(() => [SimulatedRefusal], { description: 'Calls that would have been refused, oldest first.' })
  rows!: SimulatedRefusal[];
  @Field(() => Int, { description: 'Calls that were judged.' }) consideredCount!: number;
  @Field(() => AtomicAmountScalar, { description: 'What they cost.' }) consideredAmount!: AtomicAmount;
  @Field(() => Int, { description: 'Of those, calls that would have been refused.' }) blockedCount!: number;
  @Field(() => AtomicAmountScalar, { description: 'What these cost.' }) blockedAmount!: AtomicAmount;
  @Directive(`@listSize(assumedSize: ${Object.keys(policyKinds).length + 1})`)
  @Field(() => [SimulatedSum], { description: 'The same by rule.' })
  blockedBy!: SimulatedSum[];
  @Field(() => Int, {
    description: 'Calls that were judged and whose row does not tell their operation: `risk_tiers` has let them pass.',
  })
  unknownOperationCount!: number;
  @Field(() => Int, { description: 'The last row that was looked at.' }) throughSeq!: number;
  @Field(() => Boolean, { description: 'Whether all of the time was looked at: then the sums are its sums.' })
  complete!: boolean;
  @Field(() => String, { nullable: true, description: 'What goes on from here; null where it is complete.' })
  cursor!: string | null;
}

export function shownSimulation(agent_id: AgentId, page: SimulationPage, cursor: string | null): PolicySimulation {
  const { considered, blocked, unknown_operation_count, seq } = page.span.state;
  const blockedBy = Object.entries(blocked)
    .map(([code, { count, atomic }]) => ({ policyCode: code as PolicyCode, count, amount: atomic }))
    .sort((one, other) => (one.policyCode < other.policyCode ? -1 : 1));
  const sum = blockedBy.reduce((all, one) => all + one.amount, nothingCounted.atomic as bigint);
  return {
    agentId: agent_id,
    rows: page.blocks.map(shownBlock),
    consideredCount: considered.count,
    consideredAmount: considered.atomic,
    blockedCount: blockedBy.reduce((all, { count }) => all + count, 0),
    blockedAmount: atomicAmount(sum),
    blockedBy,
    unknownOperationCount: unknown_operation_count,
    throughSeq: seq,
    complete: page.complete,
    cursor,
  };
}

function shownBlock({ row, blocked }: SimulatedBlock): SimulatedRefusal {
  const { task_id: taskId, seq, collected_at: collectedAt, amount } = row;
  const { policy_code, policy_key, spent_atomic, cap_atomic, period_start, reason } = blocked;
  return {
    taskId,
    seq,
    collectedAt,
    amount,
    reason,
    policyCode: policy_code,
    policyKey: policy_key,
    spentAtomic: spent_atomic,
    capAtomic: cap_atomic,
    periodStart: period_start === null ? null : new Date(period_start),
  };
}
