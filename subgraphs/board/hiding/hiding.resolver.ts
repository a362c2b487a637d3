import { Arg, Ctx, Field, Mutation, ObjectType, Resolver } from 'type-graphql';
import { BoardId } from '../../../schema/requests/board.ts';
import { JobId } from '../../../schema/requests/board-job.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import type { BoardContext } from '../context.ts';
import { requireBoardSecret } from '../shared-secret.ts';
import { hideComment, hideJob, hidePost } from './hide.ts';

@ObjectType({ description: 'What is hidden from now on.' })
class HiddenRecord {
  @Field(() => String, { description: 'Which post, or whose comment.' }) postId!: string;
  @Field(() => String, { nullable: true, description: 'Which comment; null: the post itself.' })
  commentId!: string | null;
  @Field(() => Boolean, { description: 'Always true.' }) hidden!: true;
}

@ObjectType({ description: 'A job that is hidden from now on.' })
class HiddenJobRecord {
  @Field(() => String, { description: 'Which job.' }) jobId!: string;
  @Field(() => Boolean, { description: 'Always true.' }) hidden!: true;
}

/** For whoever shows the secret of the board's operators. */
@Resolver()
export class HidingResolver {
  @Mutation(() => HiddenRecord, {
    nullable: true,
    description: "Hides a post: it is returned nowhere. For whoever shows the secret of the board's operators.",
  })
  async hidePost(
    @Arg('postId', () => String, { description: 'Which post.' }) postId: string,
    @Ctx() context: BoardContext,
  ): Promise<HiddenRecord> {
    requireBoardSecret(context.principal, 'ops');
    await hidePost(context, parseRequest(BoardId, postId));
    return { postId, commentId: null, hidden: true };
  }

  @Mutation(() => HiddenRecord, {
    nullable: true,
    description: "Hides a comment: it is returned nowhere. For whoever shows the secret of the board's operators.",
  })
  async hideComment(
    @Arg('postId', () => String, { description: 'On which post.' }) postId: string,
    @Arg('commentId', () => String, { description: 'Which comment.' }) commentId: string,
    @Ctx() context: BoardContext,
  ): Promise<HiddenRecord> {
    requireBoardSecret(context.principal, 'ops');
    await hideComment(context, parseRequest(BoardId, postId), parseRequest(BoardId, commentId));
    return { postId, commentId, hidden: true };
  }

  @Mutation(() => HiddenJobRecord, {
    nullable: true,
    description:
      "Hides a job: it is returned to its poster and its winner alone, who go on with it. For whoever shows the secret of the board's operators.",
  })
  async hideJob(
    @Arg('jobId', () => String, { description: 'Which job.' }) jobId: string,
    @Ctx() context: BoardContext,
  ): Promise<HiddenJobRecord> {
    requireBoardSecret(context.principal, 'ops');
    await hideJob(context, parseRequest(JobId, jobId));
    return { jobId, hidden: true };
  }
}
