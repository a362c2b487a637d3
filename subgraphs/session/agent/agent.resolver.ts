import { Arg, Ctx, Int, Query, Resolver } from 'type-graphql';
import type { Context } from '../../context.ts';
import { Agent } from './agent.entity.ts';
import { agentById } from './find.ts';

@Resolver(() => Agent)
export class AgentResolver {
  @Query(() => Agent, { nullable: true, description: 'The public side of an agent; null where there is none.' })
  agent(
    @Arg('agentId', () => Int, { description: 'Which agent.' }) agentId: number,
    @Ctx() context: Context,
  ): Promise<Agent | null> {
    return agentById(context.database, agentId);
  }
}

/** Federation's way in: other subgraphs name an agent by its id alone. */
export function resolveAgent(reference: { readonly agentId: number }, context: Context): Promise<Agent | null> {
  return agentById(context.database, reference.agentId);
}
