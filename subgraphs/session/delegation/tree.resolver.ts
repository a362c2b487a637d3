import { Args, Ctx, Directive, Query, Resolver, Root, Subscription } from 'type-graphql';
import { sessionLimits } from '../../../schema/limits.ts';
import { FeedRequest } from '../../../schema/requests/book.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { RootSessionsPage, SessionPath, SessionTreePageRequest } from '../../../schema/requests/session.ts';
import { type Arguments, type ArgumentsOfBook, argumentsType, givenMembers, readRequest } from '../../graph-type.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { SessionContext } from '../context.ts';
import { SessionBurn } from './session-burn.entity.ts';
import { sessionBurns } from './session-burns.ts';
import { rootSessions, sessionTree } from './tree.ts';
import { SessionTreePage } from './tree.type.ts';

const TreeArguments = argumentsType(SessionPath, SessionTreePageRequest);
const RootsArguments = argumentsType(BookPath, RootSessionsPage);
const BurnArguments = argumentsType(SessionPath, FeedRequest);

/** Id of the session. Whether it exists is checked after possession, so that other callers learn nothing. */
const rootOf = (args: Arguments) => givenMembers(SessionPath, args).delegation_hash;

/** GraphQL fields of session trees. They require possession of the book of the payer of the session or of a session above it. */
@Resolver()
export class SessionTreeResolver {
  @Directive(pageByLimit(sessionLimits.tree_sessions_default, 'sessions'))
  @Query(() => SessionTreePage, {
    nullable: true,
    description:
      'A session and the sessions below it under which a payment was recorded, root first, each with its spending. Requires possession of the book of the payer of the session or of one above it. Null only on error.',
  })
  sessionTree(@Args(() => TreeArguments) args: Arguments, @Ctx() context: SessionContext): Promise<SessionTreePage> {
    return sessionTree(rootOf(args), readRequest(SessionTreePageRequest, args), context);
  }

  @Directive(pageByLimit(sessionLimits.listed_sessions_default, 'sessions'))
  @Query(() => SessionTreePage, {
    nullable: true,
    description:
      'Sessions that the wallet of the agent has granted directly and under which a payment was recorded, newest first. Requires possession of the book. Null only on error.',
  })
  agentSessions(
    @Args(() => RootsArguments) args: ArgumentsOfBook,
    @Ctx() context: SessionContext,
  ): Promise<SessionTreePage> {
    return rootSessions(args.agentId, readRequest(RootSessionsPage, args), context);
  }

  @Subscription(() => SessionBurn, {
    description:
      'Payments under a session and all sessions below it, in order of position: first those after `after`, then new ones as they are recorded. Without `after` only new ones. A negative value counts back from the newest: -1 starts with it. Requires possession of the book of the payer of the session or of one above it. Ends with `session_not_active` when the session or one above it is revoked. Over graphql-ws at /graphql, or SSE at /graphql/stream.',
    subscribe: ({ args, context }) => sessionBurns(rootOf(args), args.after ?? null, context as SessionContext),
  })
  @Directive('@live(after: "after", position: "position")')
  sessionBurn(
    @Args(() => BurnArguments) _asked: Arguments,
    @Root() burn: SessionBurn,
    @Ctx() _context: SessionContext,
  ): SessionBurn {
    return burn;
  }
}
