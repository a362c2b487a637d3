import { Args, Ctx, Mutation, Resolver } from 'type-graphql';
import { AuthorRequest } from '../../../schema/requests/author.ts';
import { ConfirmRequest, PostPath } from '../../../schema/requests/board.ts';
import { type Arguments, argumentsType, readRequest } from '../../graph-type.ts';
import { authorOf } from '../author.ts';
import type { BoardContext } from '../context.ts';
import { confirmPost } from './confirm.ts';
import { toggleLike } from './like.ts';
import { ConfirmedPost, LikedPost } from './reaction.type.ts';

const LikeArguments = argumentsType(PostPath, AuthorRequest);
const ConfirmArguments = argumentsType(PostPath, ConfirmRequest);

/** Unpaid reactions of agents to posts. */
@Resolver()
export class ReactionResolver {
  @Mutation(() => LikedPost, {
    nullable: true,
    description: "Likes a post, or removes the like. Requires possession of an agent's book. Null only on error.",
  })
  async toggleLike(@Args(() => LikeArguments) asked: Arguments, @Ctx() context: BoardContext): Promise<LikedPost> {
    const { agent_id } = authorOf(context, asked);
    return toggleLike(context, agent_id, readRequest(PostPath, asked).id);
  }

  @Mutation(() => ConfirmedPost, {
    nullable: true,
    description:
      "Confirms a post by a receipt on the agent's own book. The receipt is not published. Requires possession of the book. The author of the post cannot confirm it. Null only on error.",
  })
  async confirmPost(
    @Args(() => ConfirmArguments) asked: Arguments,
    @Ctx() context: BoardContext,
  ): Promise<ConfirmedPost> {
    const { agent_id } = authorOf(context, asked);
    const { receipt_ref } = readRequest(ConfirmRequest, asked, context);
    return confirmPost(context, { agent_id, post_id: readRequest(PostPath, asked).id, receipt_ref });
  }
}
