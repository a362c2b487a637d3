import { Args, Ctx, Directive, Query, Resolver } from 'type-graphql';
import { boardLimits } from '../../../schema/limits.ts';
import { FlagPage } from '../../../schema/requests/board.ts';
import { type Arguments, argumentsType, readRequest } from '../../graph-type.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { BoardContext } from '../context.ts';
import { requireBoardSecret } from '../shared-secret.ts';
import { BoardFlaggedPage } from './flag.type.ts';
import { listFlagged } from './list.ts';

const FlagArguments = argumentsType(FlagPage);

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
    @Args(() => FlagArguments) asked: Arguments,
    @Ctx() { database, principal }: BoardContext,
  ): Promise<BoardFlaggedPage> {
    requireBoardSecret(principal, 'ops');
    return listFlagged(database, readRequest(FlagPage, asked));
  }
}
