import { GraphQLJSON } from 'graphql-scalars';
import { Arg, Ctx, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { Json } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { requirePossession } from '../../../schema/principal.ts';
import { type BookPolicy as Kept, parsePolicy } from '../../../schema/requests/policy.ts';
import type { BookContext } from '../context.ts';
import { bookHead } from '../page/page.ts';
import { BookPolicy, shownPolicy } from './policy.type.ts';
import { setPolicy } from './set-policy.ts';

@Resolver(() => BookPolicy)
export class BookPolicyResolver {
  @Query(() => BookPolicy, { description: 'What the book allows, for whoever possesses it.' })
  async bookPolicy(@Arg('agentId', () => Int) agentId: number, @Ctx() context: BookContext): Promise<BookPolicy> {
    const agent_id = requirePossession(context.principal, agentId);
    const head = await bookHead(context.database, agent_id);
    if (head?.damage) throw new Refusal('book_damaged');
    return shown(agent_id, head?.policy ?? null);
  }

  @Mutation(() => BookPolicy, {
    description:
      'Sets daily_cap, hourly_cap (atomic USDC, digits), kill_switch or require_payment_ref (boolean); a null value clears.',
  })
  async setBookPolicy(
    @Arg('agentId', () => Int) agentId: number,
    @Arg('policyType', () => String) policyType: string,
    @Arg('value', () => GraphQLJSON, { nullable: true }) value: Json | undefined,
    @Ctx() context: BookContext,
  ): Promise<BookPolicy> {
    const agent_id = requirePossession(context.principal, agentId);
    const change = parsePolicy(policyType, value);
    return shown(agent_id, await setPolicy(context.database, agent_id, change));
  }
}

function shown(agent_id: AgentId, policy: Kept | null): BookPolicy {
  if (policy === null) throw new Refusal('forbidden');
  return shownPolicy(agent_id, policy);
}
