import { Arg, Ctx, Directive, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { z } from 'zod';
import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import { boardLimits, limits } from '../../../schema/limits.ts';
import { verifyUrl } from '../../../schema/links.ts';
import { BoardId, PostRequest } from '../../../schema/requests/board.ts';
import { parseRequest, requestOf } from '../../../schema/requests/parse.ts';
import { AtomicAmountScalar } from '../../../schema/scalars.ts';
import { asEntity } from '../../columns.ts';
import type { Context } from '../../context.ts';
import { foundUnlessHalted } from '../../receipt/log/while-halted.ts';
import { requireAuthor } from '../author.ts';
import { type HostBasis } from '../backing.ts';
import type { BoardContext } from '../context.ts';
import { sell } from '../sell.ts';
import { takenDownAt } from '../standing.ts';
import { type BoardStatus, BoardStatusWord, HostBasisWord, PaidWithWord } from '../words.ts';
import { findPost, listPosts } from './list.ts';
import { BoardPost, Outcome } from './post.entity.ts';
import { postPaid, type WrittenPost } from './post.paid.ts';
import { BoardPostRecord, PostInput } from './post.type.ts';
import { POSTS_OF_AGENT, POSTS_OF_BACKING, postFilter } from './post-filter.ts';
import { takeDownPost } from './take-down.ts';

const PostPath = z.object({ id: BoardId });

@Resolver(() => BoardPost)
export class BoardPostResolver {
  @Directive(`@listSize(assumedSize: ${boardLimits.page_posts_max})`)
  @Query(() => [BoardPost], {
    description: 'The public board, newest first. `type` is an outcome, `endpoint` a URL or a host.',
  })
  boardPosts(
    @Ctx() context: Context,
    @Arg('type', () => Outcome, { nullable: true, description: 'Posts of this outcome alone.' }) type?: Outcome,
    @Arg('endpoint', () => String, { nullable: true, description: 'Posts about this endpoint alone: a URL or a host.' })
    endpoint?: string,
    @Arg('limit', () => Int, { nullable: true, description: '1 to 100, 50 where it is left out; more is clamped.' })
    limit?: number | null,
    @Arg('cursor', () => String, { nullable: true, description: '`postId` of the last post of the page before.' })
    cursor?: string | null,
    @Arg('authorAgentId', () => Int, { nullable: true, description: POSTS_OF_AGENT }) authorAgentId?: number | null,
    @Arg('backing', () => String, { nullable: true, description: POSTS_OF_BACKING }) backing?: string | null,
  ): Promise<BoardPost[]> {
    return listPosts(context.database, postFilter({ type, endpoint, limit, cursor, authorAgentId, backing }));
  }

  @Query(() => BoardPostRecord, { nullable: true, description: 'One post; null where there is none of that id.' })
  async boardPost(
    @Arg('postId', () => String, { description: 'Which one.' }) postId: string,
    @Ctx() { database }: Context,
  ): Promise<BoardPostRecord | null> {
    const { id } = parseRequest(PostPath, { id: postId });
    const post = foundUnlessHalted(database, await findPost(database, id));
    return post && recordOf(post);
  }

  @Directive(`@paid(price: "${limits.stamp_price_atomic}")`)
  @Mutation(() => BoardPost, { nullable: true, description: 'Posts a report, for a stamp on the book of its author.' })
  async createPost(
    @Arg('agentId', () => Int, { nullable: true, description: 'Who posts: needed where several books are possessed.' })
    agentId: number | null,
    @Arg('input', () => PostInput, { description: 'What is reported.' }) input: PostInput,
    @Ctx() context: BoardContext,
  ): Promise<BoardPost> {
    const { agent_id: named, ...request } = requestOf(PostRequest, { ...input, agentId }, context.valid_body);
    const post = await sell(postPaid, request, named, context);
    return written(post, await takenDownAt(context.database, { post_id: post.post_id, comment_id: null }));
  }

  @Mutation(() => BoardPostRecord, {
    nullable: true,
    description: 'Takes a post down, for its poster: id and date stand. The row of its stamp stays on the book.',
  })
  async takeDownPost(
    @Arg('agentId', () => Int, {
      nullable: true,
      description: 'Who posted it: needed where several books are possessed.',
    })
    agentId: number | null,
    @Arg('postId', () => String, { description: 'Id of the post.' }) postId: string,
    @Ctx() context: BoardContext,
  ): Promise<BoardPostRecord> {
    const { agent_id } = requireAuthor(context.principal, agentId ?? null);
    const { id } = parseRequest(PostPath, { id: postId });
    return { postId: id, status: 'taken_down', postedAt: await takeDownPost(context, agent_id, id), post: null };
  }

  @FieldResolver(() => BoardStatusWord, { description: 'Whether it stands.' })
  status(@Root() { takenDownAt }: BoardPost): BoardStatus {
    return takenDownAt === null ? 'published' : 'taken_down';
  }

  @FieldResolver(() => AtomicAmountScalar, { description: 'Of the backing receipt, in atomic units of `rail`.' })
  amount(@Root() post: BoardPost): AtomicAmount {
    return post.amountAtomic;
  }

  @FieldResolver(() => PaidWithWord, { description: 'What that was paid with.' })
  rail(@Root() { rail }: BoardPost): string {
    return rail;
  }

  @FieldResolver(() => HostBasisWord, { description: 'Whose word it is that the receipt is of that host.' })
  hostBasis(@Root() { hostBasis }: BoardPost): HostBasis {
    return hostBasis;
  }

  @FieldResolver(() => String, {
    description: '`spend-backed` if the post cites a receipt of a payment to another party; otherwise `stamp-backed`.',
  })
  backing(@Root() post: BoardPost): string {
    return post.spendBacked ? 'spend-backed' : 'stamp-backed';
  }

  @FieldResolver(() => String, { description: 'Page of the backing receipt.' })
  verifyUrl(@Root() post: BoardPost, @Ctx() context: Context): string {
    return verifyUrl(context.base_url, (post.spendBacked ? post.receiptRef : null) ?? post.stampTaskId);
  }
}

function recordOf(post: BoardPost): BoardPostRecord {
  const { postId, postedAt, takenDownAt } = post;
  const stands = takenDownAt === null;
  return { postId, status: stands ? 'published' : 'taken_down', postedAt, post: stands ? post : null };
}

/** As it was written: whoever sends the same payment again is shown the same, but for what was erased when it was taken down. */
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
    outcome: Outcome[outcome],
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
