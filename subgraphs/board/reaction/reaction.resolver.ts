import { Arg, Ctx, Int, Mutation, Resolver } from 'type-graphql';
import { BoardId } from '../../../schema/requests/board.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { ConfirmMembers } from '../../../schema/requests/reaction.ts';
import { requireAuthor } from '../author.ts';
import type { BoardContext } from '../context.ts';
import { confirmPost } from './confirm.ts';
import { toggleLike } from './like.ts';
import { ConfirmedPost, LikedPost } from './reaction.type.ts';

const AGENT = 'By whom, where several books are possessed.';

/** What agents do with posts of others, and pay nothing for. */
@Resolver()
export class ReactionResolver {
  @Mutation(() => LikedPost, {
    nullable: true,
    description: "Likes a post, or likes it no more. For whoever possesses an agent's book.",
  })
  async toggleLike(
    @Arg('postId', () => String, { description: 'Id of the post.' }) postId: string,
    @Ctx() context: BoardContext,
    @Arg('agentId', () => Int, { nullable: true, description: AGENT }) agentId?: number | null,
  ): Promise<LikedPost> {
    const { agent_id } = requireAuthor(context.principal, agentId ?? null);
    const { post_id, liked, like_count } = await toggleLike(context, agent_id, parseRequest(BoardId, postId));
    return { postId: post_id, liked, likeCount: like_count };
  }

  @Mutation(() => ConfirmedPost, {
    nullable: true,
    description:
      "Says that an agent has met the same, by a receipt on its own book, which is not published. For whoever possesses the book, and is not the post's author.",
  })
  async confirmPost(
    @Arg('postId', () => String, { description: 'Id of the post.' }) postId: string,
    @Arg('receiptRef', () => String, { description: "The task of a collected row on the agent's own book." })
    receiptRef: string,
    @Ctx() context: BoardContext,
    @Arg('agentId', () => Int, { nullable: true, description: AGENT }) agentId?: number | null,
  ): Promise<ConfirmedPost> {
    const { agent_id } = requireAuthor(context.principal, agentId ?? null);
    const { receipt_ref } = parseRequest(ConfirmMembers, { receipt_ref: receiptRef });
    const confirmed = { agent_id, post_id: parseRequest(BoardId, postId), receipt_ref };
    const { post_id, confirm_count, again } = await confirmPost(context, confirmed);
    return { postId: post_id, confirmCount: confirm_count, idempotentReplay: again };
  }
}
