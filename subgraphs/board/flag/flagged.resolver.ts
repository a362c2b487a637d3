import { Arg, Ctx, Directive, Int, Query, Resolver } from 'type-graphql';
import { withoutNull } from '../../../schema/camel.ts';
import { boardLimits } from '../../../schema/limits.ts';
import { FlagPage } from '../../../schema/requests/board.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { BoardContext } from '../context.ts';
import { requireBoardSecret } from '../shared-secret.ts';
import { BoardFlaggedPage } from './flag.type.ts';
import { listFlagged } from './list.ts';

/** For whoever shows the secret of the board's operators: to nobody else does the board say what is flagged. */
@Resolver()
export class BoardFlaggedResolver {
  @Directive(pageByLimit(boardLimits.page_flags_default, 'flags'))
  @Query(() => BoardFlaggedPage, {
    nullable: true,
    description:
      "Flagged posts, comments and jobs, the most recently flagged first, without the agents that flagged them. Requires the secret of the board's operators.",
  })
  boardFlags(
    @Arg('limit', () => Int, { nullable: true, description: '1 to 200, 50 where it is left out; more is clamped.' })
    limit: number | null,
    @Arg('cursor', () => String, { nullable: true, description: '`nextCursor` of the page before.' })
    cursor: string | null,
    @Ctx() { database, principal }: BoardContext,
  ): Promise<BoardFlaggedPage> {
    requireBoardSecret(principal, 'ops');
    return listFlagged(database, parseRequest(FlagPage, withoutNull({ limit, cursor })));
  }
}
