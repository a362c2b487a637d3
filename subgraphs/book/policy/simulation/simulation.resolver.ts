import { Args, Ctx, Directive, Query, Resolver } from 'type-graphql';
import { atomicAmount } from '../../../../schema/amount.ts';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { Refusal } from '../../../../schema/errors.ts';
import type { AgentId } from '../../../../schema/ids.ts';
import { policyLimits } from '../../../../schema/limits.ts';
import { PolicySimulationNoun, SimulatedRefusalNoun, SimulatedSumNoun } from '../../../../schema/policy.ts';
import type { PolicyCode } from '../../../../schema/policy-kinds.ts';
import { pageRows } from '../../../../schema/requests/book.ts';
import { BookPath } from '../../../../schema/requests/book-path.ts';
import { parseTried, SimulationRequest } from '../../../../schema/requests/simulation.ts';
import { requirePossession } from '../../../access.ts';
import { type ArgumentsOfBook, argumentsType, objectType, readRequest } from '../../../graph-type.ts';
import { Semaphore } from '../../../semaphore.ts';
import type { BookContext } from '../../context.ts';
import { soundHead } from '../../page/page.ts';
import { cursorOf, spanOfCursor } from './cursor.ts';
import { runSimulation, type SimulatedBlock, type SimulationPage } from './run.ts';
import { judgedAmount, nothingCounted } from './simulate.ts';

/* GraphQL fields of policy simulations. */

const SimulatedRefusal = objectType(
  'SimulatedRefusal',
  'A call that the book let pass and that the simulated policies would have refused.',
  SimulatedRefusalNoun,
);
type Refused = InstanceType<typeof SimulatedRefusal>;
objectType('SimulatedSum', 'Number and amount of the calls that one rule would have refused.', SimulatedSumNoun);
export const PolicySimulation = objectType(
  'PolicySimulation',
  'A page of a simulation. Its sums cover all rows up to `throughSeq`, including those of earlier pages.',
  PolicySimulationNoun,
);
type PolicySimulation = InstanceType<typeof PolicySimulation>;

function shownSimulation(agent_id: AgentId, page: SimulationPage, cursor: string | null): PolicySimulation {
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
  const { task_id: taskId, seq, collected_at: collectedAt } = row;
  const { policy_code, policy_key, spent_atomic, cap_atomic, period_start, reason } = blocked;
  return {
    taskId,
    seq,
    collectedAt,
    amount: judgedAmount(row),
    reason,
    policyCode: policy_code,
    // Only caps of a clock period set this member, so the type is narrower than in `Blocked`.
    policyKey: policy_key as Refused['policyKey'],
    spentAtomic: spent_atomic,
    capAtomic: cap_atomic,
    periodStart: period_start === null ? null : new Date(period_start),
  };
}

/** A simulation reads up to ten thousand rows per page, so only a few run at a time, and books take turns. */
const turns = new Semaphore({
  at_once_max: policyLimits.simulations_at_once_max,
  wait_ms_max: policyLimits.simulation_wait_ms_max,
  waiting_per_asker_max: policyLimits.simulations_waiting_per_book_max,
});

const SimulationArguments = argumentsType(BookPath, SimulationRequest);

@Resolver(() => PolicySimulation)
export class PolicySimulationResolver {
  @Directive('@cost(weight: 2000)')
  @Query(() => PolicySimulation, {
    nullable: true,
    description:
      'Calls that the book let pass and that the given policies, with no others, would have refused. Requires possession of the book. Each call is judged as of its `collectedAt`: by the real spending before `from`, by what the given policies let pass since, and by the model that answered it, as if it had no approval. Null if there is an error.',
  })
  async policySimulation(
    @Args(() => SimulationArguments) args: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<PolicySimulation> {
    const { principal, database, vault } = context;
    const agent_id = requirePossession(principal, args.agentId);
    const { policy, limit, cursor, ...span_of } = readRequest(SimulationRequest, args, context);
    const time = { from: momentOf(span_of.from), to: momentOf(span_of.to) };
    if (time.from && time.to && time.from >= time.to)
      throw new Refusal('invalid_request', { param: 'to', detail: 'to: must be later than from.' });
    const question = { agent_id, tried: parseTried(policy as JsonObject), time };
    if ((await soundHead(database, agent_id)) === null) throw new Refusal('forbidden');
    const span = cursor === undefined ? null : spanOfCursor(vault, question, cursor);
    const wanted = { ...question, limit: pageRows(limit), span };
    const page = await turns.take(String(agent_id), () => runSimulation(database, wanted));
    if (page === null)
      throw new Refusal('rate_limited', { detail: 'Too many simulations are running. Try again in a moment.' });
    return shownSimulation(agent_id, page, page.complete ? null : cursorOf(vault, question, page.span));
  }
}

const momentOf = (text: string | undefined): Date | null => (text === undefined ? null : new Date(text));
