import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, Directive, FieldResolver, Info, Mutation, Query, Resolver, Root } from 'type-graphql';
import { type BoardStatus, boardStatuses, CommentNoun, CommentPageNoun } from '../../../schema/board/post.ts';
import { RawJson } from '../../../schema/json-text.ts';
import { boardLimits, limits } from '../../../schema/limits.ts';
import { verifyUrl } from '../../../schema/links.ts';
import { AuthorRequest } from '../../../schema/requests/author.ts';
import { CommentPageRequest, CommentPath, CommentRequest, PostPath } from '../../../schema/requests/board.ts';
import { asEntity } from '../../columns.ts';
import type { Context } from '../../context.ts';
import { wordEnum } from '../../graph-enum.ts';
import { type Arguments, argumentsType, descriptionOptions, objectType, readRequest } from '../../graph-type.ts';
import { pageByLimit } from '../../page-cost.ts';
import { resultUnlessHalted } from '../../receipt/log/halt-guard.ts';
import type { WrittenFields } from '../../written-leaves.ts';
import { agentArgument, authorOf } from '../author.ts';
import type { BoardContext } from '../context.ts';
import { sell } from '../sell.ts';
import { findTakedownTime } from '../standing.ts';
import { itemOfList, itemOfPage } from '../written-list.ts';
import { BoardComment } from './comment.entity.ts';
import { commentPaid, type WrittenComment } from './comment.paid.ts';
import { commentWriting } from './comment-json.ts';
import { type CommentPage, commentFilter, listComments, writtenComments } from './list.ts';
import { takeDownComment } from './take-down.ts';

/* The query and the mutations of comments: list, write and take down. */

export const BoardComments = objectType(
  'BoardComments',
  'A page of the comments on a post, oldest first, and whether the post was taken down.',
  CommentPageNoun,
);

/** What Postgres serialises of a page, if the caller accepts text. */
export const commentsWritten: WrittenFields = {
  async 'BoardComments.comments'({ comments, filter }: CommentPage, { database, base_url }: Context, info) {
    if (comments instanceof RawJson) return comments;
    const written = await writtenComments(database, filter, { comment: itemOfList(commentWriting, info), base_url });
    return written?.comments ?? new RawJson('[]');
  },
};

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
    @Ctx() { database, base_url }: Context,
    @Info() info: GraphQLResolveInfo,
  ): Promise<CommentPage | null> {
    const filter = commentFilter(readRequest(PostPath, asked).id, readRequest(CommentPageRequest, asked));
    const comment = itemOfPage(commentWriting, 'comments', info);
    const page =
      comment === null ? listComments(database, filter) : writtenComments(database, filter, { comment, base_url });
    return resultUnlessHalted(database, await page);
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
