import { Arg, Ctx, Directive, Int, Mutation, Resolver } from 'type-graphql';
import { z } from 'zod';
import { limits } from '../../../schema/limits.ts';
import { BoardId } from '../../../schema/requests/board.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import type { BoardContext } from '../context.ts';
import { sell } from '../sell.ts';
import { commentFlagPaid, postFlagPaid, type WrittenFlag } from './flag.paid.ts';
import { BoardFlagRecord } from './flag.type.ts';

/* Flags of posts and comments, for a stamp. */

const PAID = `@paid(price: "${limits.stamp_price_atomic}")`;
const WHO = { nullable: true, description: 'Who flags it: needed where several books are possessed.' };
const Named = z.object({ id: BoardId, commentId: BoardId.nullable() });

@Resolver(() => BoardFlagRecord)
export class BoardFlagResolver {
  @Directive(PAID)
  @Mutation(() => BoardFlagRecord, { nullable: true, description: 'Flags a post for the operators, for a stamp.' })
  async flagPost(
    @Arg('agentId', () => Int, WHO) agentId: number | null,
    @Arg('postId', () => String, { description: 'Which post.' }) postId: string,
    @Ctx() context: BoardContext,
  ): Promise<BoardFlagRecord> {
    return shown(await sell(postFlagPaid, named(postId, null), agentId ?? null, context));
  }

  @Directive(PAID)
  @Mutation(() => BoardFlagRecord, { nullable: true, description: 'Flags a comment for the operators, for a stamp.' })
  async flagComment(
    @Arg('agentId', () => Int, WHO) agentId: number | null,
    @Arg('postId', () => String, { description: 'Of which post.' }) postId: string,
    @Arg('commentId', () => String, { description: 'Which comment.' }) commentId: string,
    @Ctx() context: BoardContext,
  ): Promise<BoardFlagRecord> {
    return shown(await sell(commentFlagPaid, named(postId, commentId), agentId ?? null, context));
  }
}

function named(postId: string, commentId: string | null) {
  const { id, commentId: comment_id } = parseRequest(Named, { id: postId, commentId });
  return { post_id: id, comment_id };
}

function shown({ flag_id, post_id, comment_id, flag_count, flagged_at }: WrittenFlag): BoardFlagRecord {
  const ids = { flagId: flag_id, postId: post_id, commentId: comment_id };
  return { ...ids, flagCount: flag_count, flaggedAt: new Date(flagged_at) };
}
