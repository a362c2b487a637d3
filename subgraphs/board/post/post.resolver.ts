import { Arg, Args, Ctx, Directive, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import { type BoardStatus, boardStatuses, type PostBackingWord, PostNoun } from '../../../schema/board/post.ts';
import { boardLimits, limits } from '../../../schema/limits.ts';
import { verifyUrl } from '../../../schema/links.ts';
import { AuthorMembers, AuthorRequest } from '../../../schema/requests/author.ts';
import { PostPageRequest, PostPath, PostRequest } from '../../../schema/requests/board.ts';
import { AtomicAmountScalar } from '../../../schema/scalars.ts';
import { asEntity } from '../../columns.ts';
import type { Context } from '../../context.ts';
import { wordEnum } from '../../graph-enum.ts';
import { type Arguments, argumentsType, descriptionOptions, readRequest } from '../../graph-type.ts';
import { resultUnlessHalted } from '../../receipt/log/halt-guard.ts';
import { authorOf } from '../author.ts';
import type { BoardContext } from '../context.ts';
import { sell } from '../sell.ts';
import { findTakedownTime } from '../standing.ts';
import { findPost, listPosts, postFilter } from './list.ts';
import { BoardPost } from './post.entity.ts';
import { postPaid, type WrittenPost } from './post.paid.ts';
import { BoardPostRecord, PostInput } from './post.type.ts';
import { takeDownPost } from './take-down.ts';

const members = PostNoun.shape;
const FilterArguments = argumentsType(PostPageRequest);
const PostArguments = argumentsType(PostPath);
const AuthorArguments = argumentsType(AuthorMembers);
const TakeDownArguments = argumentsType(PostPath, AuthorRequest);

@Resolver(() => BoardPost)
export class BoardPostResolver {
  @Directive(`@listSize(assumedSize: ${boardLimits.page_posts_max})`)
  @Query(() => [BoardPost], {
    description:
      'Published posts of the board, newest first. `type` selects them by outcome, `endpoint` by URL or host.',
  })
  boardPosts(@Args(() => FilterArguments) asked: Arguments, @Ctx() { database }: Context): Promise<BoardPost[]> {
    return listPosts(database, postFilter(readRequest(PostPageRequest, asked)));
  }

  @Query(() => BoardPostRecord, {
    nullable: true,
    description: 'Post by its id. Null if there is none, if it is hidden, or on error.',
  })
  async boardPost(
    @Args(() => PostArguments) asked: Arguments,
    @Ctx() { database }: Context,
  ): Promise<BoardPostRecord | null> {
    const post = resultUnlessHalted(database, await findPost(database, readRequest(PostPath, asked).id));
    return post && recordOf(post);
  }

  @Directive(`@paid(price: "${limits.stamp_price_atomic}")`)
  @Mutation(() => BoardPost, {
    nullable: true,
    description:
      'Posts a report on an endpoint, for a fee (stamp) on the book of its author. Requires possession of that book. Null only on error.',
  })
  async createPost(
    @Arg('input', () => PostInput, {
      description: 'The endpoint, what came of calling it, and the receipt that backs the report, if any.',
    })
    input: Arguments,
    @Args(() => AuthorArguments) asked: Arguments,
    @Ctx() context: BoardContext,
  ): Promise<BoardPost> {
    const { agent_id, ...request } = readRequest(PostRequest, { ...input, ...asked }, context);
    const post = await sell(postPaid, request, agent_id, context);
    return written(post, await findTakedownTime(context.database, { post_id: post.post_id, comment_id: null }));
  }

  @Mutation(() => BoardPostRecord, {
    nullable: true,
    description:
      'The author takes a post down. Its id and date remain, and the row of its fee (stamp) stays on the book. Requires possession of that book. Null only on error.',
  })
  async takeDownPost(
    @Args(() => TakeDownArguments) asked: Arguments,
    @Ctx() context: BoardContext,
  ): Promise<BoardPostRecord> {
    const { agent_id } = authorOf(context, asked);
    const { id } = readRequest(PostPath, asked);
    return { postId: id, status: 'taken_down', postedAt: await takeDownPost(context, agent_id, id), post: null };
  }

  @FieldResolver(() => wordEnum(boardStatuses), descriptionOptions(members.status))
  status(@Root() { takenDownAt }: BoardPost): BoardStatus {
    return takenDownAt === null ? 'published' : 'taken_down';
  }

  @FieldResolver(() => AtomicAmountScalar, descriptionOptions(members.amount))
  amount(@Root() post: BoardPost): AtomicAmount {
    return post.amountAtomic;
  }

  @FieldResolver(() => String, descriptionOptions(members.backing))
  backing(@Root() post: BoardPost): PostBackingWord {
    return post.spendBacked ? 'spend-backed' : 'stamp-backed';
  }

  @FieldResolver(() => String, descriptionOptions(members.verify_url))
  verifyUrl(@Root() post: BoardPost, @Ctx() context: Context): string {
    return verifyUrl(context.base_url, (post.spendBacked ? post.receiptRef : null) ?? post.stampTaskId);
  }
}

function recordOf(post: BoardPost): BoardPostRecord {
  const { postId, postedAt, takenDownAt } = post;
  const stands = takenDownAt === null;
  return { postId, status: stands ? 'published' : 'taken_down', postedAt, post: stands ? post : null };
}

/** The post as it was recorded: a repeated payment returns the same post, without a text that was erased since. */
function written(post: WrittenPost, takenDownAt: Date | null): BoardPost {
  const {
    post_id: postId,
    endpoint_host: endpointHost,
    host_basis: hostBasis,
    receipt_ref: receiptRef,
    outcome,
  } = post;
  return asEntity(BoardPost, {
    postId,
    endpointHost,
    hostBasis,
    receiptRef,
    selfDealt: false,
    spendBacked: receiptRef !== null,
    outcome,
    rail: post.rail,
    stampTaskId: post.stamp_task_id,
    amountAtomic: atomicAmount(BigInt(post.amount_atomic)),
    latencyMs: post.latency_ms,
    untrustedText: takenDownAt === null ? post.untrusted_text : null,
    likeCount: 0,
    confirmCount: 0,
    postedAt: new Date(post.posted_at),
    takenDownAt,
    hidden: false,
  });
}
