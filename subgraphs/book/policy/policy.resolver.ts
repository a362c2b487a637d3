import { GraphQLJSON } from 'graphql-scalars';
import { Arg, Ctx, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { Json } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { BookPolicy as Kept, PolicyType } from '../../../schema/policy-kinds.ts';
import { parsePolicy } from '../../../schema/requests/policy.ts';
import { requirePossession } from '../../access.ts';
import { PolicyTypeWord } from '../../words.ts';
import type { BookContext } from '../context.ts';
import { bookHead } from '../page/page.ts';
import { ShownPolicy, shownPolicy } from './policy.type.ts';
import { setPolicy } from './set.ts';

@Resolver(() => ShownPolicy)
export class BookPolicyResolver {
  @Query(() => ShownPolicy, { nullable: true, description: 'What the book allows, for whoever possesses it.' })
  async bookPolicy(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Ctx() context: BookContext,
  ): Promise<ShownPolicy> {
    const agent_id = requirePossession(context.principal, agentId);
    const head = await bookHead(context.database, agent_id);
    if (head?.damage) throw new Refusal('book_damaged');
    return shown(agent_id, head?.policy ?? null);
  }

  @Mutation(() => ShownPolicy, {
    nullable: true,
    description: 'Sets one policy of a book; the policy as it then stands.',
  })
  async setBookPolicy(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('policyType', () => PolicyTypeWord, { description: 'Which policy.' }) policyType: PolicyType,
    @Arg('value', () => GraphQLJSON, {
      nullable: true,
      description: 'As the type wants it: digits for a cap in atomic USDC, a boolean for a switch; null clears it.',
    })
    value: Json | undefined,
    @Ctx() context: BookContext,
  ): Promise<ShownPolicy> {
    const agent_id = requirePossession(context.principal, agentId);
    const change = parsePolicy(policyType, value);
    return shown(agent_id, await setPolicy(context.database, agent_id, change));
  }
}

function shown(agent_id: AgentId, policy: Kept | null): ShownPolicy {
  if (policy === null) throw new Refusal('forbidden');
  return shownPolicy(agent_id, policy);
}
