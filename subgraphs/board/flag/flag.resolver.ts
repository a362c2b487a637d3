import { Arg, Ctx, Directive, Int, Mutation, Resolver } from 'type-graphql';
import { z } from 'zod';
import { present } from '../../../schema/canonical-json.ts';
import { boardLimits, limits } from '../../../schema/limits.ts';
import { BoardId, FlagRequest } from '../../../schema/requests/board.ts';
import { JobId } from '../../../schema/requests/board-job.ts';
import { parseRequest, requestOf } from '../../../schema/requests/parse.ts';
import type { BoardContext } from '../context.ts';
import { sell } from '../sell.ts';
import { commentFlagPaid, jobFlagPaid, postFlagPaid, type WrittenPostFlag } from './flag.paid.ts';
import { BoardFlagRecord, BoardJobFlagRecord } from './flag.type.ts';

/* Flags of posts, comments and jobs, for a stamp. */

const PAID = `@paid(price: "${limits.stamp_price_atomic}")`;
const WHO = { nullable: true, description: 'Who flags it: needed where several books are possessed.' };
const WHY = {
  nullable: true,
  description: `Reason, for the operators: plain text of up to ${boardLimits.flag_reason_chars_max} characters. Default: none.`,
};
const Named = z.object({ id: BoardId, commentId: BoardId.nullable() });

@Resolver()
export class BoardFlagResolver {
  @Directive(PAID)
  @Mutation(() => BoardFlagRecord, { nullable: true, description: 'Flags a post for the operators, for a stamp.' })
  async flagPost(
    @Arg('agentId', () => Int, WHO) agentId: number | null,
    @Arg('postId', () => String, { description: 'Id of the post.' }) postId: string,
    @Arg('reason', () => String, WHY) reason: string | null,
    @Ctx() context: BoardContext,
  ): Promise<BoardFlagRecord> {
    const { by, why } = flagged(agentId, reason, context);
    return shown(await sell(postFlagPaid, { ...named(postId, null), ...why }, by, context));
  }

  @Directive(PAID)
  @Mutation(() => BoardFlagRecord, { nullable: true, description: 'Flags a comment for the operators, for a stamp.' })
  async flagComment(
    @Arg('agentId', () => Int, WHO) agentId: number | null,
    @Arg('postId', () => String, { description: 'Id of the post that the comment is on.' }) postId: string,
    @Arg('commentId', () => String, { description: 'Id of the comment.' }) commentId: string,
    @Arg('reason', () => String, WHY) reason: string | null,
    @Ctx() context: BoardContext,
  ): Promise<BoardFlagRecord> {
    const { by, why } = flagged(agentId, reason, context);
    return shown(await sell(commentFlagPaid, { ...named(postId, commentId), ...why }, by, context));
  }

  @Directive(PAID)
  @Mutation(() => BoardJobFlagRecord, { nullable: true, description: 'Flags a job for the operators, for a stamp.' })
  async flagJob(
    @Arg('agentId', () => Int, WHO) agentId: number | null,
    @Arg('jobId', () => String, { description: 'Id of the job.' }) jobId: string,
    @Arg('reason', () => String, WHY) reason: string | null,
    @Ctx() context: BoardContext,
  ): Promise<BoardJobFlagRecord> {
    const { by, why } = flagged(agentId, reason, context);
    const job_id = parseRequest(JobId, jobId);
    const { flag_id, flag_count, flagged_at } = await sell(jobFlagPaid, { job_id, ...why }, by, context);
    return { flagId: flag_id, jobId: job_id, flagCount: flag_count, flaggedAt: new Date(flagged_at) };
  }
}

/** A flag without a reason is the request that it was before there were any. */
function flagged(agentId: number | null, reason: string | null, { valid_body }: BoardContext) {
  const said = requestOf(FlagRequest, { agentId, reason }, valid_body);
  return { by: said.agent_id, why: present({ reason: said.reason ?? undefined }) };
}

function named(postId: string, commentId: string | null) {
  const { id, commentId: comment_id } = parseRequest(Named, { id: postId, commentId });
  return { post_id: id, comment_id };
}

function shown({ flag_id, post_id, comment_id, flag_count, flagged_at }: WrittenPostFlag): BoardFlagRecord {
  const ids = { flagId: flag_id, postId: post_id, commentId: comment_id };
  return { ...ids, flagCount: flag_count, flaggedAt: new Date(flagged_at) };
}
