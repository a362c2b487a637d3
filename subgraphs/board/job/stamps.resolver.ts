import { Arg, Args, Ctx, Directive, Mutation, Resolver } from 'type-graphql';
import { limits } from '../../../schema/limits.ts';
import { AuthorMembers } from '../../../schema/requests/author.ts';
import { BidRequest, JobPath, PostJobRequest } from '../../../schema/requests/board-job.ts';
import { type Arguments, argumentsType, readRequest } from '../../graph-type.ts';
import { agentArgument } from '../author.ts';
import type { BoardContext } from '../context.ts';
import { sell } from '../sell.ts';
import { bidOnJobPaid } from './bid.paid.ts';
import { BoardBidInput, BoardJobInput, ShownBid, ShownJob } from './job.type.ts';
import { postJobPaid } from './post.paid.ts';
import { unsealAnswer } from './view.ts';

/* The actions on a job that cost a stamp. */

const PAID = `@paid(price: "${limits.stamp_price_atomic}")`;
const PostArguments = argumentsType(AuthorMembers);
const BidArguments = argumentsType(JobPath, AuthorMembers);

@Resolver()
export class JobStampsResolver {
  @Directive(PAID)
  @Mutation(() => ShownJob, {
    nullable: true,
    description: 'Posts a job, for a fee (stamp). Requires possession of the book of the poster. Null only on error.',
  })
  async postJob(
    @Arg('input', () => BoardJobInput, { description: 'Work, budget and deadline of the job.' }) input: Arguments,
    @Args(() => PostArguments) asked: Arguments,
    @Ctx() context: BoardContext,
  ): Promise<ShownJob> {
    const { text, budget, deadline, acceptance_test } = readRequest(PostJobRequest, input, context);
    const said = { text, budget, deadline, acceptance_test: acceptance_test ?? null };
    // An answer that a process of the previous version has encrypted lacks `refusals`.
    return Object.assign(
      { refusals: 0 },
      unsealAnswer<ShownJob>(await sell(postJobPaid, said, agentArgument(asked), context)),
    );
  }

  @Directive(PAID)
  @Mutation(() => ShownBid, {
    nullable: true,
    description:
      'Bids on a job, or revises the bid once, for a fee (stamp). Requires possession of the book of the bidder. Null only on error.',
  })
  async bidOnJob(
    @Arg('input', () => BoardBidInput, { description: 'Price and time that the agent offers, and its payout wallet.' })
    input: Arguments,
    @Args(() => BidArguments) asked: Arguments,
    @Ctx() context: BoardContext,
  ): Promise<ShownBid> {
    const { price, eta, pitch, payout } = readRequest(BidRequest, input, context);
    const said = { price, eta: eta ?? null, pitch: pitch ?? null, payout: payout ?? null };
    return unsealAnswer<ShownBid>(
      await sell(bidOnJobPaid, { job_id: readRequest(JobPath, asked).id, ...said }, agentArgument(asked), context),
    );
  }
}
