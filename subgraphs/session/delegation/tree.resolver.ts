import { Arg, Ctx, Directive, Int, Query, Resolver, Root, Subscription } from 'type-graphql';
import { withoutNull } from '../../../schema/camel.ts';
import { sessionLimits } from '../../../schema/limits.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { RootSessionsPage, SessionTreePageMembers } from '../../../schema/requests/session.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { SessionContext } from '../context.ts';
import { SessionBurn } from './session-burn.entity.ts';
import { sessionBurns } from './session-burns.ts';
import { rootSessions, sessionTree } from './tree.ts';
import { SessionTreePage } from './tree.type.ts';

const ROOT = 'The EIP-712 digest of the grant of its root.';

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
    @Arg('delegationHash', () => String, { description: ROOT }) delegationHash: string,
    @Arg('limit', () => Int, {
      nullable: true,
      description: '1 to 1000, 200 where it is left out; more is clamped.',
    })
    limit: number | null,
    @Arg('cursor', () => String, { nullable: true, description: '`nextCursor` of the page before.' })
    cursor: string | null,
    @Ctx() context: SessionContext,
  ): Promise<SessionTreePage> {
    return sessionTree(delegationHash, parseRequest(SessionTreePageMembers, withoutNull({ limit, cursor })), context);
  }

  @Directive(pageByLimit(sessionLimits.listed_sessions_default, 'sessions'))
  @Query(() => SessionTreePage, {
    nullable: true,
    description:
      'Sessions that the agentWallet has granted directly and a payment has bound, newest first. Requires possession of the book.',
  })
  agentSessions(
    @Arg('agentId', () => Int, { description: 'Id of the agent whose wallet granted the sessions.' }) agentId: number,
    @Arg('limit', () => Int, { nullable: true, description: '1 to 200. Default: 50. A larger value is clamped.' })
    limit: number | null,
    @Arg('cursor', () => String, { nullable: true, description: '`nextCursor` of the page before.' })
    cursor: string | null,
    @Ctx() context: SessionContext,
  ): Promise<SessionTreePage> {
    return rootSessions(agentId, parseRequest(RootSessionsPage, withoutNull({ limit, cursor })), context);
  }

  @Subscription(() => SessionBurn, {
    description:
      'What a session and all below it burn, in order of position: first what came after `after`, then as it is recorded. Without it only what is new; a negative one counts from the newest: -1 starts with that. For who possesses the book of a payer over it; ends with `session_not_active` as soon as it is revoked, or one over it. Over graphql-ws at /graphql, or over SSE at /graphql/stream.',
    subscribe: ({ args, context }) => sessionBurns(args.delegationHash, args.after ?? null, context as SessionContext),
  })
  @Directive('@live(after: "after", position: "position")')
  sessionBurn(
    @Arg('delegationHash', () => String, { description: ROOT }) _delegationHash: string,
    @Arg('after', () => Int, { nullable: true, description: 'The last position that the reader has.' })
    _after: number | null,
    @Root() burn: SessionBurn,
    @Ctx() _context: SessionContext,
  ): SessionBurn {
    return burn;
  }
}
