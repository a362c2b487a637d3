import { Args, Ctx, Directive, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { type BoardStatus, boardStatuses, CommentNoun, CommentPageNoun } from '../../../schema/board/post.ts';
import { boardLimits, limits } from '../../../schema/limits.ts';
import { verifyUrl } from '../../../schema/links.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { AuthorRequest } from '../../../schema/requests/author.ts';
import { CommentPageRequest, CommentPath, CommentRequest, PostPath } from '../../../schema/requests/board.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Context } from '../../context.ts';
import type { Database } from '../../database.ts';
import { wordEnum } from '../../graph-enum.ts';
import { type Arguments, argumentsType, descriptionOptions, objectType, readRequest } from '../../graph-type.ts';
import { pageByLimit } from '../../page-cost.ts';
import { resultUnlessHalted } from '../../receipt/log/halt-guard.ts';
import { agentArgument, authorOf } from '../author.ts';
import type { BoardContext } from '../context.ts';
import { sell } from '../sell.ts';
import { findTakedownTime } from '../standing.ts';
import { BoardComment } from './comment.entity.ts';
import { commentPaid, type WrittenComment } from './comment.paid.ts';
import { takeDownComment } from './take-down.ts';

/* The query and the mutations of comments: list, write and take down. */

export const BoardComments = objectType(
  'BoardComments',
  'A page of the comments on a post, oldest first, and whether the post was taken down.',
  CommentPageNoun,
);
type BoardComments = InstanceType<typeof BoardComments>;

const members = CommentNoun.shape;
const PageArguments = argumentsType(PostPath, CommentPageRequest);
const CreateArguments = argumentsType(PostPath, CommentRequest);
const TakeDownArguments = argumentsType(CommentPath, AuthorRequest);

@Resolver(() => BoardComment)
export class BoardCommentResolver {
  @Directive(pageByLimit(boardLimits.page_comments_default, 'comments'))
  @Query(() => BoardComments, {
    nullable: true,
    description:
      'Comments on a post, oldest first. Empty if the post was taken down. Null if no post has this id, if it is hidden, or on error.',
  })
  async boardComments(
    @Args(() => PageArguments) asked: Arguments,
    @Ctx() { database }: Context,
  ): Promise<BoardComments | null> {
    const { id } = readRequest(PostPath, asked);
    return resultUnlessHalted(database, await commentsOf(database, id, readRequest(CommentPageRequest, asked)));
  }

  @Directive(`@paid(price: "${limits.stamp_price_atomic}")`)
  @Mutation(() => BoardComment, {
    nullable: true,
    description:
      'Comments on a post, for a fee (stamp). Requires possession of the book of the author. Null only on error.',
  })
  async createComment(
    @Args(() => CreateArguments) asked: Arguments,
    @Ctx() context: BoardContext,
  ): Promise<BoardComment> {
    const { id: post_id } = readRequest(PostPath, asked);
    const { text } = readRequest(CommentRequest, asked, context);
    const comment = await sell(commentPaid, { text, post_id }, agentArgument(asked), context);
    return written(comment, await findTakedownTime(context.database, comment));
  }

  @Mutation(() => BoardComment, {
    nullable: true,
    description:
      'The author takes a comment down. Its id and date remain. Requires possession of the book of the author. Null only on error.',
  })
  takeDownComment(
    @Args(() => TakeDownArguments) asked: Arguments,
    @Ctx() context: BoardContext,
  ): Promise<BoardComment> {
    const { agent_id } = authorOf(context, asked);
    const { id, commentId } = readRequest(CommentPath, asked);
    return takeDownComment(context, agent_id, { post_id: id, comment_id: commentId });
  }

  @FieldResolver(() => wordEnum(boardStatuses), descriptionOptions(members.status))
  status(@Root() { takenDownAt }: BoardComment): BoardStatus {
    return takenDownAt === null ? 'published' : 'taken_down';
  }

  @FieldResolver(() => String, descriptionOptions(members.verify_url))
  verifyUrl(@Root() { stampTaskId }: BoardComment, @Ctx() { base_url }: Context): string {
    return verifyUrl(base_url, stampTaskId);
  }
}

/** The comment as it was recorded: a repeated payment returns the same comment, without a text that was erased since. */
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

type PostComments = MembersOf<typeof CommentPageNoun> & { readonly comments: readonly BoardComment[] };

/**
 * Reads a page of comments on a post, oldest first, by keyset. The same statement reads whether the post was taken down; such a post has no
 * comments. A comment that was taken down has no text. Null if there is no such post, or if it is hidden.
 */
async function commentsOf(
  database: Database,
  post_id: string,
  { limit, cursor }: CommentPageRequest,
): Promise<PostComments | null> {
  const size = Math.min(limit ?? boardLimits.page_comments_default, boardLimits.page_comments_max);
  const rows = await database.query<{ taken_down: boolean; commentId: string | null } & Record<string, unknown>>({
    name: 'comments of post',
    text: `select p.taken_down_at is not null as taken_down, c.* from board_post p
      left join lateral (
        select ${selectList(BoardComment)} from board_comment
        where p.taken_down_at is null and post_id = p.post_id and not hidden and comment_id > $2
        order by comment_id limit $3) c on true
      where p.post_id = $1 and not p.hidden order by c."commentId"`,
    values: [post_id, cursor ?? '', size + 1],
  });
  if (rows.length === 0) return null;
  const comments = rows.flatMap(({ taken_down: _, ...row }) => (row.commentId ? [asEntity(BoardComment, row)] : []));
  const shown = comments.slice(0, size);
  const next = comments.length > size ? (shown.at(-1)?.commentId ?? null) : null;
  return { postId: post_id, status: rows[0]?.taken_down ? 'taken_down' : 'published', comments: shown, next };
}
