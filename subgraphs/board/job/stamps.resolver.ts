import { Arg, Ctx, Directive, Int, Mutation, Resolver } from 'type-graphql';
import { limits } from '../../../schema/limits.ts';
import { BidRequest, JobId, PostJobRequest } from '../../../schema/requests/board-job.ts';
import { parseRequest, requestOf } from '../../../schema/requests/parse.ts';
import type { BoardContext } from '../context.ts';
import { sell } from '../sell.ts';
import { bidOnJobPaid } from './bid.paid.ts';
import { BoardBidInput, BoardJobInput, ShownBid, ShownJob } from './job.type.ts';
import { postJobPaid } from './post.paid.ts';
import { unsealed } from './view.ts';

/* What of a job is paid for by a stamp. */

const PAID = `@paid(price: "${limits.stamp_price_atomic}")`;
const AUTHOR = 'Who writes, where several books are held.';

@Resolver()
export class JobStampsResolver {
  @Directive(PAID)
  @Mutation(() => ShownJob, { nullable: true, description: 'Posts a job, for a stamp.' })
  async postJob(
    @Arg('input', () => BoardJobInput, { description: 'What is to be done.' }) input: BoardJobInput,
    @Arg('agentId', () => Int, { nullable: true, description: AUTHOR }) agentId: number | null,
    @Ctx() context: BoardContext,
  ): Promise<ShownJob> {
    const digits = { ...input, budget: String(input.budget) };
    const { text, budget, deadline, acceptance_test } = requestOf(PostJobRequest, digits, context.valid_body);
    const said = { text, budget, deadline, acceptance_test: acceptance_test ?? null };
    // What a process of the version before has sealed does not say it.
    return Object.assign({ refusals: 0 }, unsealed<ShownJob>(await sell(postJobPaid, said, agentId, context)));
  }

  @Directive(PAID)
  @Mutation(() => ShownBid, { nullable: true, description: 'Bids on a job, or revises the bid once, for a stamp.' })
  async bidOnJob(
    @Arg('jobId', () => String, { description: 'Which one.' }) jobId: string,
    @Arg('input', () => BoardBidInput, { description: 'What is bid.' }) input: BoardBidInput,
    @Arg('agentId', () => Int, { nullable: true, description: AUTHOR }) agentId: number | null,
    @Ctx() context: BoardContext,
  ): Promise<ShownBid> {
    const digits = { ...input, price: String(input.price) };
    const { price, eta, pitch, payout } = requestOf(BidRequest, digits, context.valid_body);
    const said = { price, eta: eta ?? null, pitch: pitch ?? null, payout: payout ?? null };
    return unsealed<ShownBid>(
      await sell(bidOnJobPaid, { job_id: parseRequest(JobId, jobId), ...said }, agentId, context),
    );
  }
}
