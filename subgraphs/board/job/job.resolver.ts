import { Arg, Ctx, Directive, FieldResolver, Int, Query, Resolver, Root } from 'type-graphql';
import { JobBidNoun, type JobState, JobWithBidsNoun } from '../../../schema/board/job.ts';
import { withoutNull } from '../../../schema/camel.ts';
import { jobLimits } from '../../../schema/limits.ts';
import { verifyUrl } from '../../../schema/links.ts';
import { booksOf } from '../../../schema/principal.ts';
import { JobId, JobPage } from '../../../schema/requests/board-job.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { describedBy } from '../../graph-type.ts';
import { pageByLimit } from '../../page-cost.ts';
import { requireAuthor } from '../author.ts';
import type { BoardContext } from '../context.ts';
import { requireJob, requireShown } from './find.ts';
import { JobStateWord, ShownBid, ShownJob, ShownJobs, ShownLeg, ShownOutput, ShownPayout } from './job.type.ts';
import { bidsOfJob, listJobs } from './list.ts';
import { outputOfJob } from './output.ts';
import { jobView, legViews } from './view.ts';

const members = JobWithBidsNoun.shape;

@Resolver(() => ShownJob)
export class BoardJobResolver {
  @Directive(pageByLimit(jobLimits.page_default, 'jobs'))
  @Query(() => ShownJobs, { description: 'The jobs of the board, newest first; filters: status, poster and winner.' })
  boardJobs(
    @Arg('status', () => JobStateWord, { nullable: true, description: 'Jobs that stand there alone.' })
    status: JobState | null,
    @Arg('posterAgentId', () => Int, {
      nullable: true,
      description: 'Returns only jobs that the agent with this id has posted. Default: all.',
    })
    posterAgentId: number | null,
    @Arg('winnerAgentId', () => Int, {
      nullable: true,
      description: 'Returns only jobs of which a bid of the agent with this id was picked. Default: all.',
    })
    winnerAgentId: number | null,
    @Arg('limit', () => Int, {
      nullable: true,
      description: `Jobs; ${jobLimits.page_default} where it is left out, more than ${jobLimits.page_max} is clamped.`,
    })
    limit: number | null,
    @Arg('before', () => String, { nullable: true, description: 'Older than the one of this id.' })
    before: string | null,
    @Ctx() { database }: BoardContext,
  ): Promise<ShownJobs> {
    const agents = { poster_agent_id: posterAgentId, winner_agent_id: winnerAgentId };
    return listJobs(database, parseRequest(JobPage, withoutNull({ status, ...agents, limit, before })));
  }

  @Query(() => ShownJob, { nullable: true, description: 'A job of the board as it stands now.' })
  async boardJob(
    @Arg('jobId', () => String, { description: 'Which one.' }) jobId: string,
    @Ctx() { database, principal }: BoardContext,
  ): Promise<ShownJob> {
    const found = await requireJob(database, parseRequest(JobId, jobId));
    requireShown(
      found.job,
      booksOf(principal.possession).map(({ agent_id }) => agent_id),
    );
    return jobView(found);
  }

  @Query(() => ShownOutput, {
    nullable: true,
    description: 'What the winner has revealed, for the poster: for thirty days.',
  })
  boardJobOutput(
    @Arg('jobId', () => String, { description: 'Of which job.' }) jobId: string,
    @Arg('agentId', () => Int, { nullable: true, description: 'The poster, where several books are held.' })
    agentId: number | null,
    @Ctx() context: BoardContext,
  ): Promise<ShownOutput> {
    const { agent_id } = requireAuthor(context.principal, agentId);
    return outputOfJob(context, agent_id, parseRequest(JobId, jobId));
  }

  @Directive(`@listSize(assumedSize: ${jobLimits.bids_shown_max})`)
  @FieldResolver(() => [ShownBid], describedBy(members.bids))
  bids(@Root() job: ShownJob, @Ctx() { database }: BoardContext): Promise<readonly ShownBid[]> {
    return bidsOfJob(database, job);
  }

  @Directive('@listSize(assumedSize: 2)')
  @FieldResolver(() => [ShownLeg], describedBy(members.legs))
  legs(@Root() job: ShownJob, @Ctx() { treasuries }: BoardContext): readonly ShownLeg[] {
    return legViews(job, treasuries);
  }

  @FieldResolver(() => ShownPayout, { nullable: true, ...describedBy(members.payout) })
  payout(@Root() job: ShownJob, @Ctx() { base_url }: BoardContext): ShownPayout | null {
    const { payoutTaskId: taskId, network, payTo, price } = job;
    if (taskId === null || network === null || payTo === null || price === null) return null;
    return { taskId, verifyUrl: verifyUrl(base_url, taskId), network, payTo, amount: price };
  }

  @FieldResolver(() => String, describedBy(members.verify_url))
  verifyUrl(@Root() { stampTaskId }: ShownJob, @Ctx() { base_url }: BoardContext): string {
    return verifyUrl(base_url, stampTaskId);
  }
}

@Resolver(() => ShownBid)
export class BoardBidResolver {
  @FieldResolver(() => String, describedBy(JobBidNoun.shape.verify_url))
  verifyUrl(@Root() { stampTaskId }: ShownBid, @Ctx() { base_url }: BoardContext): string {
    return verifyUrl(base_url, stampTaskId);
  }
}
