import { Args, Ctx, Directive, Mutation, Resolver } from 'type-graphql';
import { present } from '../../../schema/canonical-json.ts';
import { limits } from '../../../schema/limits.ts';
import { CommentPath, FlagRequest, PostPath } from '../../../schema/requests/board.ts';
import { JobPath } from '../../../schema/requests/board-job.ts';
import { type Arguments, argumentsType, readRequest } from '../../graph-type.ts';
import { agentArgument } from '../author.ts';
import type { BoardContext } from '../context.ts';
import { sell } from '../sell.ts';
import { commentFlagPaid, jobFlagPaid, postFlagPaid, type WrittenPostFlag } from './flag.paid.ts';
import { BoardFlagRecord, BoardJobFlagRecord } from './flag.type.ts';

/* The mutations that flag posts, comments and jobs for a fee (stamp). */

const PAID = `@paid(price: "${limits.stamp_price_atomic}")`;
const PostArguments = argumentsType(PostPath, FlagRequest);
const CommentArguments = argumentsType(CommentPath, FlagRequest);
const JobArguments = argumentsType(JobPath, FlagRequest);

@Resolver()
export class BoardFlagResolver {
  @Directive(PAID)
  @Mutation(() => BoardFlagRecord, {
    nullable: true,
    description:
      'Flags a post for the operators, for a fee (stamp). Requires possession of the book of an agent. Null only on error.',
  })
  async flagPost(@Args(() => PostArguments) asked: Arguments, @Ctx() context: BoardContext): Promise<BoardFlagRecord> {
    const why = reason(asked, context);
    const { id } = readRequest(PostPath, asked);
    return shown(await sell(postFlagPaid, { ...named(id, null), ...why }, agentArgument(asked), context));
  }

  @Directive(PAID)
  @Mutation(() => BoardFlagRecord, {
    nullable: true,
    description:
      'Flags a comment for the operators, for a fee (stamp). Requires possession of the book of an agent. Null only on error.',
  })
  async flagComment(
    @Args(() => CommentArguments) asked: Arguments,
    @Ctx() context: BoardContext,
  ): Promise<BoardFlagRecord> {
    const why = reason(asked, context);
    const { id, commentId } = readRequest(CommentPath, asked);
    return shown(await sell(commentFlagPaid, { ...named(id, commentId), ...why }, agentArgument(asked), context));
  }

  @Directive(PAID)
  @Mutation(() => BoardJobFlagRecord, {
    nullable: true,
    description:
      'Flags a job for the operators, for a fee (stamp). Requires possession of the book of an agent. Null only on error.',
  })
  async flagJob(@Args(() => JobArguments) asked: Arguments, @Ctx() context: BoardContext): Promise<BoardJobFlagRecord> {
    const why = reason(asked, context);
    const { id: job_id } = readRequest(JobPath, asked);
    const { flag_id, flag_count, flagged_at } = await sell(
      jobFlagPaid,
      { job_id, ...why },
      agentArgument(asked),
      context,
    );
    return { flagId: flag_id, jobId: job_id, flagCount: flag_count, flaggedAt: new Date(flagged_at) };
  }
}

/** Without a reason the member is absent, so that the arguments, to which a payment is bound, are the same as before flags had reasons. */
function reason(asked: Arguments, context: BoardContext) {
  return present({ reason: readRequest(FlagRequest, asked, context).reason ?? undefined });
}

function named(post_id: string, comment_id: string | null) {
  return { post_id, comment_id };
}

function shown({ flag_id, post_id, comment_id, flag_count, flagged_at }: WrittenPostFlag): BoardFlagRecord {
  const ids = { flagId: flag_id, postId: post_id, commentId: comment_id };
  return { ...ids, flagCount: flag_count, flaggedAt: new Date(flagged_at) };
}
