import { GraphQLJSONObject } from 'graphql-scalars';
import { Arg, Ctx, Directive, Int, Query, Resolver } from 'type-graphql';
import { z } from 'zod';
import { type JsonObject, present } from '../../../../schema/canonical-json.ts';
import { Refusal } from '../../../../schema/errors.ts';
import { policyLimits } from '../../../../schema/limits.ts';
import { pageRows } from '../../../../schema/requests/book.ts';
import { parseRequest } from '../../../../schema/requests/parse.ts';
import { parseTried, simulationMembers } from '../../../../schema/requests/simulation.ts';
import { DateTimeScalar } from '../../../../schema/scalars.ts';
import { requirePossession } from '../../../access.ts';
import { Semaphore } from '../../../semaphore.ts';
import type { BookContext } from '../../context.ts';
import { soundHead } from '../../page/page.ts';
import { cursorOf, spanOfCursor } from './cursor.ts';
import { runSimulation } from './run.ts';
import { PolicySimulation, shownSimulation } from './simulation.type.ts';

/** Each reads up to ten thousand rows: a few at a time, and whoever asks for many waits behind the others. */
const turns = new Semaphore({
  at_once_max: policyLimits.simulations_at_once_max,
  wait_ms_max: policyLimits.simulation_wait_ms_max,
  waiting_per_asker_max: policyLimits.simulations_waiting_per_book_max,
});

const Asked = z.object(simulationMembers);

@Resolver(() => PolicySimulation)
export class PolicySimulationResolver {
  @Directive('@cost(weight: 2000)')
  @Query(() => PolicySimulation, {
    nullable: true,
    description:
      'Which calls that the book let pass these policies, and no others, would have refused, for whoever possesses the book. Each is judged as of when it was collected, or recorded where a key stood in, by what was really spent before `from` and by what they let pass since; a call is taken to be answered by the model that answered it.',
  })
  async policySimulation(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('policy', () => GraphQLJSONObject, {
      description: 'What is tried, by the names of REST: `{hourly_cap: "20000", budget: "900000"}`.',
    })
    policy: JsonObject,
    @Arg('from', () => DateTimeScalar, { nullable: true, description: 'Calls collected then or later.' })
    from: Date | null,
    @Arg('to', () => DateTimeScalar, { nullable: true, description: 'Calls collected before.' }) to: Date | null,
    @Arg('limit', () => Int, {
      nullable: true,
      description: 'Calls that are listed: 0 to 200, 50 where it is left out; 0 for the sums alone.',
    })
    limit: number | null,
    @Arg('after', () => String, { nullable: true, description: '`cursor` of the page before.' }) after: string | null,
    @Ctx() { principal, database, vault }: BookContext,
  ): Promise<PolicySimulation> {
    const agent_id = requirePossession(principal, agentId);
    parseRequest(Asked, present({ limit: limit ?? undefined, cursor: after ?? undefined }));
    if (from && to && from >= to) throw new Refusal('invalid_request', { param: 'to', detail: 'to: is after from.' });
    const question = { agent_id, tried: parseTried(policy), time: { from: from ?? null, to: to ?? null } };
    if ((await soundHead(database, agent_id)) === null) throw new Refusal('forbidden');
    // What is left out of a query is undefined here, and null what was said to be null.
    const span = typeof after === 'string' ? spanOfCursor(vault, question, after) : null;
    const asked = { ...question, limit: pageRows(limit), span };
    const page = await turns.take(String(agent_id), () => runSimulation(database, asked));
    if (page === null)
      throw new Refusal('rate_limited', { detail: 'Too many simulations are under way; ask again in a moment.' });
    return shownSimulation(agent_id, page, page.complete ? null : cursorOf(vault, question, page.span));
  }
}
