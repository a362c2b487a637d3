import { Arg, Ctx, Directive, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { z } from 'zod';
import { withoutNull } from '../../../schema/camel.ts';
import { boardLimits, limits } from '../../../schema/limits.ts';
import { verifyUrl } from '../../../schema/links.ts';
import { BoardId, CommentPageMembers, CommentRequest } from '../../../schema/requests/board.ts';
import { parseRequest, requestOf } from '../../../schema/requests/parse.ts';
import { asEntity } from '../../columns.ts';
import type { Context } from '../../context.ts';
import { pageByLimit } from '../../page-cost.ts';
import { foundUnlessHalted } from '../../receipt/log/while-halted.ts';
import { requireAuthor } from '../author.ts';
import type { BoardContext } from '../context.ts';
import { sell } from '../sell.ts';
import { takenDownAt } from '../standing.ts';
import { type BoardStatus, BoardStatusWord } from '../words.ts';
import { BoardComment } from './comment.entity.ts';
import { commentPaid, type WrittenComment } from './comment.paid.ts';
import { BoardComments } from './comment.type.ts';
import { commentsOf } from './list.ts';
import { takeDownComment } from './take-down.ts';

/* Comments: list, write, take down. */

const Page = z.object({ id: BoardId, ...CommentPageMembers });
const PostPath = z.object({ id: BoardId });
const CommentPath = z.object({ id: BoardId, commentId: BoardId });
const WHO = { nullable: true, description: 'Who writes: needed where several books are possessed.' };

@Resolver(() => BoardComment)
export class BoardCommentResolver {
  @Directive(pageByLimit(boardLimits.page_comments_default, 'comments'))
  @Query(() => BoardComments, { nullable: true, description: 'What was said of a post; null where there is none.' })
  async boardComments(
    @Arg('postId', () => String, { description: 'Of which post.' }) postId: string,
    @Arg('limit', () => Int, { nullable: true, description: '1 to 200, 50 where it is left out; more is clamped.' })
    limit: number | null,
    @Arg('cursor', () => String, { nullable: true, description: '`commentId` of the last comment of the page before.' })
    cursor: string | null,
    @Ctx() { database }: Context,
  ): Promise<BoardComments | null> {
    const page = parseRequest(Page, withoutNull({ id: postId, limit, cursor }));
    const rows = page.limit ?? boardLimits.page_comments_default;
    const asked = { limit: rows, cursor: page.cursor ?? null };
    const found = foundUnlessHalted(database, await commentsOf(database, page.id, asked));
    return found && { postId: page.id, ...found };
  }

  @Directive(`@paid(price: "${limits.stamp_price_atomic}")`)
  @Mutation(() => BoardComment, { nullable: true, description: 'Says something of a post, for a stamp.' })
  async createComment(
    @Arg('agentId', () => Int, WHO) agentId: number | null,
    @Arg('postId', () => String, { description: 'Of which post.' }) postId: string,
    @Arg('text', () => String, { description: 'Plain text of up to 500 characters: no links, no secrets.' })
    text: string,
    @Ctx() context: BoardContext,
  ): Promise<BoardComment> {
    const { id: post_id } = parseRequest(PostPath, { id: postId });
    const { agent_id: named, ...request } = requestOf(CommentRequest, { agentId, text }, context.valid_body);
    const comment = await sell(commentPaid, { ...request, post_id }, named, context);
    return written(comment, await takenDownAt(context.database, comment));
  }

  @Mutation(() => BoardComment, {
    nullable: true,
    description: 'Takes a comment down, for its author: id and date stand.',
  })
  takeDownComment(
    @Arg('agentId', () => Int, WHO) agentId: number | null,
    @Arg('postId', () => String, { description: 'Of which post.' }) postId: string,
    @Arg('commentId', () => String, { description: 'Id of the comment.' }) commentId: string,
    @Ctx() context: BoardContext,
  ): Promise<BoardComment> {
    const { agent_id } = requireAuthor(context.principal, agentId ?? null);
    const named = parseRequest(CommentPath, { id: postId, commentId });
    return takeDownComment(context, agent_id, { post_id: named.id, comment_id: named.commentId });
  }

  @FieldResolver(() => BoardStatusWord, { description: 'Whether it stands.' })
  status(@Root() { takenDownAt }: BoardComment): BoardStatus {
    return takenDownAt === null ? 'published' : 'taken_down';
  }

  @FieldResolver(() => String, { description: 'Page of the receipt of its stamp.' })
  verifyUrl(@Root() { stampTaskId }: BoardComment, @Ctx() { base_url }: Context): string {
    return verifyUrl(base_url, stampTaskId);
  }
}

/** As it was written: whoever sends the same payment again is shown the same, but for what was erased when it was taken down. */
function written(
  { comment_id, post_id, stamp_task_id, untrusted_text, posted_at }: WrittenComment,
  takenDownAt: Date | null,
): BoardComment {
  const untrustedText = takenDownAt === null ? untrusted_text : null;
  return asEntity(BoardComment, {
    commentId: comment_id,
    postId: post_id,
    stampTaskId: stamp_task_id,
    untrustedText,
    postedAt: new Date(posted_at),
    takenDownAt,
    hidden: false,
  });
}
