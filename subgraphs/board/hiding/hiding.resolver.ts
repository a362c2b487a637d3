import { Args, Ctx, Mutation, Resolver } from 'type-graphql';
import { HiddenJobNoun, HiddenNoun } from '../../../schema/board/reaction.ts';
import { CommentPath, PostPath } from '../../../schema/requests/board.ts';
import { JobPath } from '../../../schema/requests/board-job.ts';
import { type Arguments, argumentsType, objectType, readRequest } from '../../graph-type.ts';
import type { BoardContext } from '../context.ts';
import { requireBoardSecret } from '../shared-secret.ts';
import { hideComment, hideJob, hidePost } from './hide.ts';

const HiddenRecord = objectType(
  'HiddenRecord',
  'A post or a comment that the operators of the board have hidden, or shown again.',
  HiddenNoun,
);
type HiddenRecord = InstanceType<typeof HiddenRecord>;

const HiddenJobRecord = objectType(
  'HiddenJobRecord',
  'A job that the operators of the board have hidden, or shown again.',
  HiddenJobNoun,
);
type HiddenJobRecord = InstanceType<typeof HiddenJobRecord>;

const PostArguments = argumentsType(PostPath);
const CommentArguments = argumentsType(CommentPath);
const JobArguments = argumentsType(JobPath);

/** Requires the secret of the board's operators. */
@Resolver()
export class HidingResolver {
  @Mutation(() => HiddenRecord, {
    nullable: true,
    description:
      "Hides a post and its comments from readers of the board. Requires the secret of the board's operators in the header X-SVC-Board-Ops. Null only on error.",
  })
  hidePost(@Args(() => PostArguments) asked: Arguments, @Ctx() context: BoardContext): Promise<HiddenRecord> {
    return setPost(asked, context, true);
  }

  @Mutation(() => HiddenRecord, {
    nullable: true,
    description:
      "Hides a comment from readers of the board. Requires the secret of the board's operators in the header X-SVC-Board-Ops. Null only on error.",
  })
  hideComment(@Args(() => CommentArguments) asked: Arguments, @Ctx() context: BoardContext): Promise<HiddenRecord> {
    return setComment(asked, context, true);
  }

  @Mutation(() => HiddenJobRecord, {
    nullable: true,
    description:
      "Hides a job from everybody but its poster and its winner, who can go on with it. Requires the secret of the board's operators in the header X-SVC-Board-Ops. Null only on error.",
  })
  hideJob(@Args(() => JobArguments) asked: Arguments, @Ctx() context: BoardContext): Promise<HiddenJobRecord> {
    return setJob(asked, context, true);
  }

  @Mutation(() => HiddenRecord, {
    nullable: true,
    description:
      "Shows a hidden post again. Requires the secret of the board's operators in the header X-SVC-Board-Ops. Null only on error.",
  })
  unhidePost(@Args(() => PostArguments) asked: Arguments, @Ctx() context: BoardContext): Promise<HiddenRecord> {
    return setPost(asked, context, false);
  }

  @Mutation(() => HiddenRecord, {
    nullable: true,
    description:
      "Shows a hidden comment again. Requires the secret of the board's operators in the header X-SVC-Board-Ops. Null only on error.",
  })
  unhideComment(@Args(() => CommentArguments) asked: Arguments, @Ctx() context: BoardContext): Promise<HiddenRecord> {
    return setComment(asked, context, false);
  }

  @Mutation(() => HiddenJobRecord, {
    nullable: true,
    description:
      "Shows a hidden job again. Requires the secret of the board's operators in the header X-SVC-Board-Ops. Null only on error.",
  })
  unhideJob(@Args(() => JobArguments) asked: Arguments, @Ctx() context: BoardContext): Promise<HiddenJobRecord> {
    return setJob(asked, context, false);
  }
}

async function setPost(asked: Arguments, context: BoardContext, hidden: boolean): Promise<HiddenRecord> {
  requireBoardSecret(context.principal, 'ops');
  const { id } = readRequest(PostPath, asked);
  await hidePost(context, id, hidden);
  return { postId: id, commentId: null, hidden };
}

async function setComment(asked: Arguments, context: BoardContext, hidden: boolean): Promise<HiddenRecord> {
  requireBoardSecret(context.principal, 'ops');
  const { id, commentId } = readRequest(CommentPath, asked);
  await hideComment(context, { post_id: id, comment_id: commentId }, hidden);
  return { postId: id, commentId, hidden };
}

async function setJob(asked: Arguments, context: BoardContext, hidden: boolean): Promise<HiddenJobRecord> {
  requireBoardSecret(context.principal, 'ops');
  const { id } = readRequest(JobPath, asked);
  await hideJob(context, id, hidden);
  return { jobId: id, hidden };
}
