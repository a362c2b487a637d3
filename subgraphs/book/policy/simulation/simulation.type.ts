import { atomicAmount } from '../../../../schema/amount.ts';
import type { AgentId } from '../../../../schema/ids.ts';
import { PolicySimulationNoun, SimulatedRefusalNoun, SimulatedSumNoun } from '../../../../schema/policy.ts';
import type { PolicyCode } from '../../../../schema/policy-kinds.ts';
import { objectType } from '../../../graph-type.ts';
import type { SimulatedBlock, SimulationPage } from './run.ts';
import { nothingCounted } from './simulate.ts';

/* How the graph shows what policies would have refused. */

const SimulatedRefusal = objectType(
  'SimulatedRefusal',
  'A call that the book let pass, and that the policies which are tried would have refused.',
  SimulatedRefusalNoun,
);
type Refused = InstanceType<typeof SimulatedRefusal>;
objectType('SimulatedSum', 'What one rule would have refused.', SimulatedSumNoun);
export const PolicySimulation = objectType(
  'PolicySimulation',
  'A page of a simulation. Its sums are over all that was looked at up to `throughSeq`, by the pages before it too.',
  PolicySimulationNoun,
);
export type PolicySimulation = InstanceType<typeof PolicySimulation>;

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

function shownBlock({ row, blocked }: SimulatedBlock): Refused {
  const { task_id: taskId, seq, collected_at: collectedAt, amount } = row;
  const { policy_code, policy_key, spent_atomic, cap_atomic, period_start, reason } = blocked;
  return {
    taskId,
    seq,
    collectedAt,
    amount,
    reason,
    policyCode: policy_code,
    // No other rule has a clock period.
    policyKey: policy_key as Refused['policyKey'],
    spentAtomic: spent_atomic,
    capAtomic: cap_atomic,
    periodStart: period_start === null ? null : new Date(period_start),
  };
}
