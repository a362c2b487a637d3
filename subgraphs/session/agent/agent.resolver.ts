import { Args, Ctx, Query, Resolver } from 'type-graphql';
import { BookPath } from '../../../schema/requests/book-path.ts';
import type { Context } from '../../context.ts';
import { type ArgumentsOfBook, argumentsType } from '../../graph-type.ts';
import { resultUnlessHalted } from '../../receipt/log/halt-guard.ts';
import { Agent } from './agent.entity.ts';
import { agentById } from './find.ts';

const AgentArguments = argumentsType(BookPath);

@Resolver(() => Agent)
export class AgentResolver {
  @Query(() => Agent, {
    nullable: true,
    description: 'Public data of an agent. Null if no agent has this id, or on error.',
  })
  async agent(
    @Args(() => AgentArguments) { agentId }: ArgumentsOfBook,
    @Ctx() { database }: Context,
  ): Promise<Agent | null> {
    return resultUnlessHalted(database, await agentById(database, agentId));
  }
}

/** Entity resolver of federation. Other subgraphs refer to an agent by its id only. */
export function resolveAgent(reference: { readonly agentId: number }, context: Context): Promise<Agent | null> {
  return agentById(context.database, reference.agentId);
}
