import { Arg, Ctx, Field, Mutation, ObjectType, Resolver } from 'type-graphql';
import { BoardId } from '../../../schema/requests/board.ts';
import { JobId } from '../../../schema/requests/board-job.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import type { BoardContext } from '../context.ts';
import { requireBoardSecret } from '../shared-secret.ts';
import { hideComment, hideJob, hidePost } from './hide.ts';

@ObjectType({ description: 'A post or a comment that the operators of the board have hidden, or shown again.' })
class HiddenRecord {
  @Field(() => String, { description: 'Id of the post, or of the post that the comment is on.' }) postId!: string;
  @Field(() => String, { nullable: true, description: 'Id of the comment. Null if it is the post itself.' })
  commentId!: string | null;
  @Field(() => Boolean, { description: 'True if it is now hidden, false if it is shown again.' }) hidden!: boolean;
}

@ObjectType({ description: 'A job that the operators of the board have hidden, or shown again.' })
class HiddenJobRecord {
  @Field(() => String, { description: 'Id of the job.' }) jobId!: string;
  @Field(() => Boolean, { description: 'True if it is now hidden, false if it is shown again.' }) hidden!: boolean;
}

/** For whoever shows the secret of the board's operators. */
@Resolver()
export class HidingResolver {
  @Mutation(() => HiddenRecord, {
    nullable: true,
    description: "Hides a post: it is returned nowhere. Requires the secret of the board's operators.",
  })
  async hidePost(
    @Arg('postId', () => String, { description: 'Id of the post.' }) postId: string,
    @Ctx() context: BoardContext,
  ): Promise<HiddenRecord> {
    requireBoardSecret(context.principal, 'ops');
    await hidePost(context, parseRequest(BoardId, postId), true);
    return { postId, commentId: null, hidden: true };
  }

  @Mutation(() => HiddenRecord, {
    nullable: true,
    description: "Hides a comment: it is returned nowhere. Requires the secret of the board's operators.",
  })
  async hideComment(
    @Arg('postId', () => String, { description: 'Id of the post that the comment is on.' }) postId: string,
    @Arg('commentId', () => String, { description: 'Id of the comment.' }) commentId: string,
    @Ctx() context: BoardContext,
  ): Promise<HiddenRecord> {
    requireBoardSecret(context.principal, 'ops');
    await hideComment(context, commentNamed(postId, commentId), true);
    return { postId, commentId, hidden: true };
  }

  @Mutation(() => HiddenJobRecord, {
    nullable: true,
    description:
      "Hides a job: it is returned to its poster and its winner alone, who go on with it. Requires the secret of the board's operators.",
  })
  async hideJob(
    @Arg('jobId', () => String, { description: 'Id of the job.' }) jobId: string,
    @Ctx() context: BoardContext,
  ): Promise<HiddenJobRecord> {
    requireBoardSecret(context.principal, 'ops');
    await hideJob(context, parseRequest(JobId, jobId), true);
    return { jobId, hidden: true };
  }

  @Mutation(() => HiddenRecord, {
    nullable: true,
    description: "Shows a hidden post again. Requires the secret of the board's operators.",
  })
  async unhidePost(
    @Arg('postId', () => String, { description: 'Id of the post.' }) postId: string,
    @Ctx() context: BoardContext,
  ): Promise<HiddenRecord> {
    requireBoardSecret(context.principal, 'ops');
    await hidePost(context, parseRequest(BoardId, postId), false);
    return { postId, commentId: null, hidden: false };
  }

  @Mutation(() => HiddenRecord, {
    nullable: true,
    description: "Shows a hidden comment again. Requires the secret of the board's operators.",
  })
  async unhideComment(
    @Arg('postId', () => String, { description: 'Id of the post that the comment is on.' }) postId: string,
    @Arg('commentId', () => String, { description: 'Id of the comment.' }) commentId: string,
    @Ctx() context: BoardContext,
  ): Promise<HiddenRecord> {
    requireBoardSecret(context.principal, 'ops');
    await hideComment(context, commentNamed(postId, commentId), false);
    return { postId, commentId, hidden: false };
  }

  @Mutation(() => HiddenJobRecord, {
    nullable: true,
    description: "Shows a hidden job again. Requires the secret of the board's operators.",
  })
  async unhideJob(
    @Arg('jobId', () => String, { description: 'Id of the job.' }) jobId: string,
    @Ctx() context: BoardContext,
  ): Promise<HiddenJobRecord> {
    requireBoardSecret(context.principal, 'ops');
    await hideJob(context, parseRequest(JobId, jobId), false);
    return { jobId, hidden: false };
  }
}

function commentNamed(postId: string, commentId: string) {
  return { post_id: parseRequest(BoardId, postId), comment_id: parseRequest(BoardId, commentId) };
}
