import { Arg, Args, Ctx, Directive, Int, Query, Resolver, Root, Subscription } from 'type-graphql';
import { sessionLimits } from '../../../schema/limits.ts';
import { RootSessionsPage, SessionPath, SessionTreePageRequest } from '../../../schema/requests/session.ts';
import { type Arguments, argumentsType, describedBy, readRequest } from '../../graph-type.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { SessionContext } from '../context.ts';
import { SessionBurn } from './session-burn.entity.ts';
import { sessionBurns } from './session-burns.ts';
import { rootSessions, sessionTree } from './tree.ts';
import { SessionTreePage } from './tree.type.ts';

/** Judged behind possession: whoever shows none learns nothing of it. */
const ROOT = describedBy(SessionPath.shape.delegation_hash);
const TreeArguments = argumentsType(SessionTreePageRequest);
const RootsArguments = argumentsType(RootSessionsPage);

/** For who possesses the book of a payer over what is asked for, and nobody else. */
@Resolver()
export class SessionTreeResolver {
  @Directive(pageByLimit(sessionLimits.tree_sessions_default, 'sessions'))
  @Query(() => SessionTreePage, {
    nullable: true,
    description:
      'A session and all below it, the root first, with what each has burnt: for who possesses the book of a payer over them.',
  })
  sessionTree(
    @Arg('delegationHash', () => String, ROOT) delegationHash: string,
    @Args(() => TreeArguments) asked: Arguments,
    @Ctx() context: SessionContext,
  ): Promise<SessionTreePage> {
    return sessionTree(delegationHash, readRequest(SessionTreePageRequest, asked), context);
  }

  @Directive(pageByLimit(sessionLimits.listed_sessions_default, 'sessions'))
  @Query(() => SessionTreePage, {
    nullable: true,
    description:
      'Sessions that the agentWallet has granted directly and a payment has bound, newest first. Requires possession of the book.',
  })
  agentSessions(
    @Arg('agentId', () => Int, { description: 'Id of the agent whose wallet granted the sessions.' }) agentId: number,
    @Args(() => RootsArguments) asked: Arguments,
    @Ctx() context: SessionContext,
  ): Promise<SessionTreePage> {
    return rootSessions(agentId, readRequest(RootSessionsPage, asked), context);
  }

  @Subscription(() => SessionBurn, {
    description:
      'What a session and all below it burn, in order of position: first what came after `after`, then as it is recorded. Without it only what is new; a negative one counts from the newest: -1 starts with that. For who possesses the book of a payer over it; ends with `session_not_active` as soon as it is revoked, or one over it. Over graphql-ws at /graphql, or over SSE at /graphql/stream.',
    subscribe: ({ args, context }) => sessionBurns(args.delegationHash, args.after ?? null, context as SessionContext),
  })
  @Directive('@live(after: "after", position: "position")')
  sessionBurn(
    @Arg('delegationHash', () => String, ROOT) _delegationHash: string,
    @Arg('after', () => Int, { nullable: true, description: 'The last position that the reader has.' })
    _after: number | null,
    @Root() burn: SessionBurn,
    @Ctx() _context: SessionContext,
  ): SessionBurn {
    return burn;
  }
}
