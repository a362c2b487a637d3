import { Args, Ctx, Directive, Mutation, Query, Resolver } from 'type-graphql';
import type { Json } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import { pageRows } from '../../../schema/requests/book.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { pageLimitFault } from '../../../schema/requests/page-limit.ts';
import {
  CHANGES_PAGE,
  PolicyChangesPage,
  PolicyMoment,
  PolicyRequest,
  parsePolicy,
} from '../../../schema/requests/policy.ts';
import { requireHeld, requirePossession } from '../../access.ts';
import { type ArgumentsOfBook, argumentsType, givenMembers, readRequest } from '../../graph-type.ts';
import type { BookContext } from '../context.ts';
import { soundHead } from '../page/page.ts';
import { policiesAt, termsEvents } from './changes.ts';
import { ShownChange, ShownPolicy, shownChange, shownPolicy } from './policy.type.ts';
import { type Policies, setPolicy } from './set.ts';

const PolicyArguments = argumentsType(BookPath, PolicyMoment);
const ChangeArguments = argumentsType(BookPath, PolicyRequest);
const ChangesArguments = argumentsType(BookPath, PolicyChangesPage);

@Resolver(() => ShownPolicy)
export class BookPolicyResolver {
  @Query(() => ShownPolicy, {
    nullable: true,
    description: 'Policies of a book. Requires possession of the book. Null if there is an error.',
  })
  async bookPolicy(
    @Args(() => PolicyArguments) args: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<ShownPolicy> {
    const agent_id = requirePossession(context.principal, args.agentId);
    const { at } = readRequest(PolicyMoment, args);
    const head = await soundHead(context.database, agent_id);
    const then = head && at !== undefined ? await policiesAt(context.database, agent_id, new Date(at)) : null;
    return shown(agent_id, then ?? head);
  }

  @Directive(`@listSize(assumedSize: ${limits.book_page_rows_default})`)
  @Query(() => [ShownChange], {
    nullable: true,
    description:
      'Changes of the policies and the budget of a book, newest first. Requires possession of the book. Null if there is an error.',
  })
  async policyChanges(
    @Args(() => ChangesArguments) args: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<ShownChange[]> {
    const agent_id = requirePossession(context.principal, args.agentId);
    const { limit, before = null } = givenMembers(PolicyChangesPage, args);
    // The message differs from that of `readRequest`, because existing clients expect this one.
    if (limit !== undefined && limit < 1)
      throw new Refusal('invalid_request', { param: 'limit', detail: `limit ${pageLimitFault(CHANGES_PAGE)}.` });
    await soundHead(context.database, agent_id);
    const changes = await termsEvents(context.database, agent_id, { before, limit: pageRows(limit) });
    return changes.map(shownChange);
  }

  @Mutation(() => ShownPolicy, {
    nullable: true,
    description:
      'Sets one policy of a book. Returns the policies after the change. Requires possession of the book. Null if there is an error.',
  })
  async setBookPolicy(
    @Args(() => ChangeArguments) args: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<ShownPolicy> {
    const held = requireHeld(context.principal, args.agentId);
    const { agent_id } = held;
    const { policy_type, value, mode } = readRequest(PolicyRequest, args, context);
    const change = { ...parsePolicy(policy_type, value as Json | undefined), mode };
    return shown(agent_id, await setPolicy(context.database, agent_id, change, held));
  }
}

function shown(agent_id: AgentId, policies: Policies | null): ShownPolicy {
  if (policies === null) throw new Refusal('forbidden');
  return shownPolicy(agent_id, policies);
}
