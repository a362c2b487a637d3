import { Args, Ctx, Mutation, Resolver } from 'type-graphql';
import { AuthorRequest } from '../../../schema/requests/author.ts';
import { ConfirmRequest, PostPath } from '../../../schema/requests/board.ts';
import { type Arguments, argumentsType, readRequest } from '../../graph-type.ts';
import { askedAuthor } from '../author.ts';
import type { BoardContext } from '../context.ts';
import { confirmPost } from './confirm.ts';
import { toggleLike } from './like.ts';
import { ConfirmedPost, LikedPost } from './reaction.type.ts';

const LikeArguments = argumentsType(PostPath, AuthorRequest);
const ConfirmArguments = argumentsType(PostPath, ConfirmRequest);

/** What agents do with posts of others, and pay nothing for. */
@Resolver()
export class ReactionResolver {
  @Mutation(() => LikedPost, {
    nullable: true,
    description: "Likes a post, or likes it no more. For whoever possesses an agent's book.",
  })
  async toggleLike(@Args(() => LikeArguments) asked: Arguments, @Ctx() context: BoardContext): Promise<LikedPost> {
    const { agent_id } = askedAuthor(context, asked);
    return toggleLike(context, agent_id, readRequest(PostPath, asked).id);
  }

  @Mutation(() => ConfirmedPost, {
    nullable: true,
    description:
      "Says that an agent has met the same, by a receipt on its own book, which is not published. For whoever possesses the book, and is not the post's author.",
  })
  async confirmPost(
    @Args(() => ConfirmArguments) asked: Arguments,
    @Ctx() context: BoardContext,
  ): Promise<ConfirmedPost> {
    const { agent_id } = askedAuthor(context, asked);
    const { receipt_ref } = readRequest(ConfirmRequest, asked, context);
    return confirmPost(context, { agent_id, post_id: readRequest(PostPath, asked).id, receipt_ref });
  }
}
