import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, Directive, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import { JobBidNoun, JobWithBidsNoun } from '../../../schema/board/job.ts';
import { RawJson } from '../../../schema/json-text.ts';
import { jobLimits } from '../../../schema/limits.ts';
import { verifyUrl } from '../../../schema/links.ts';
import { booksOf } from '../../../schema/principal.ts';
import { AuthorMembers } from '../../../schema/requests/author.ts';
import { JobPage, JobPath } from '../../../schema/requests/board-job.ts';
import { type Arguments, argumentsType, descriptionOptions, readRequest } from '../../graph-type.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { WrittenFields } from '../../written-leaves.ts';
import { authorOf } from '../author.ts';
import type { BoardContext } from '../context.ts';
import { itemOfList, itemOfPage } from '../written-list.ts';
import { requireJob, requireShown } from './find.ts';
import { ShownBid, ShownJob, ShownJobs, ShownLeg, ShownOutput, ShownPayout } from './job.type.ts';
import { jobWriting } from './job-json.ts';
import { bidsOfJob, listJobs, type PageOfJobs, writtenJobs } from './list.ts';
import { outputOfJob } from './output.ts';
import { jobView, legViews } from './view.ts';

const members = JobWithBidsNoun.shape;
const PageArguments = argumentsType(JobPage);
const JobArguments = argumentsType(JobPath);
const OutputArguments = argumentsType(JobPath, AuthorMembers);

/** What Postgres serialises of a page, if the caller accepts text. */
export const jobsWritten: WrittenFields = {
  async 'BoardJobs.jobs'({ jobs, asked }: PageOfJobs, { database, base_url, treasuries }: BoardContext, info) {
    if (jobs instanceof RawJson) return jobs;
    return (await writtenJobs(database, asked, { job: itemOfList(jobWriting, info), base_url, treasuries })).jobs;
  },
};

@Resolver(() => ShownJob)
export class BoardJobResolver {
  @Directive(pageByLimit(jobLimits.page_default, 'jobs'))
  @Query(() => ShownJobs, {
    description: 'Jobs of the board that are not hidden, newest first, optionally by status, poster and winner.',
  })
  async boardJobs(
    @Args(() => PageArguments) asked: Arguments,
    @Ctx() { database, base_url, treasuries }: BoardContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<PageOfJobs> {
    const page = readRequest(JobPage, asked);
    const job = itemOfPage(jobWriting, 'jobs', info);
    return job === null ? listJobs(database, page) : writtenJobs(database, page, { job, base_url, treasuries });
  }

  @Query(() => ShownJob, {
    nullable: true,
    description:
      'A job of the board as it stands now. Null only on error, such as `job_not_found` for an unknown id or for a hidden job of others.',
  })
  async boardJob(@Args(() => JobArguments) asked: Arguments, @Ctx() context: BoardContext): Promise<ShownJob> {
    const { database, principal } = context;
    const found = await requireJob(database, readRequest(JobPath, asked).id);
    requireShown(
      found.job,
      booksOf(principal.possession).map(({ agent_id }) => agent_id),
    );
    return jobView(found);
  }

  @Query(() => ShownOutput, {
    nullable: true,
    description:
      'Output that the winner has revealed, kept for thirty days. Requires possession of the book of the poster. Null only on error, such as `not_found` if nothing was revealed or the output is no longer kept.',
  })
  boardJobOutput(@Args(() => OutputArguments) asked: Arguments, @Ctx() context: BoardContext): Promise<ShownOutput> {
    const { agent_id } = authorOf(context, asked);
    return outputOfJob(context, agent_id, readRequest(JobPath, asked).id);
  }

  @Directive(`@listSize(assumedSize: ${jobLimits.bids_shown_max})`)
  @FieldResolver(() => [ShownBid], descriptionOptions(members.bids))
  bids(@Root() job: ShownJob, @Ctx() { database }: BoardContext): Promise<readonly ShownBid[]> {
    return bidsOfJob(database, job);
  }

  @Directive('@listSize(assumedSize: 2)')
  @FieldResolver(() => [ShownLeg], descriptionOptions(members.legs))
  legs(@Root() job: ShownJob, @Ctx() { treasuries }: BoardContext): readonly ShownLeg[] {
    return legViews(job, treasuries);
  }

  @FieldResolver(() => ShownPayout, { nullable: true, ...descriptionOptions(members.payout) })
  payout(@Root() job: ShownJob, @Ctx() { base_url }: BoardContext): ShownPayout | null {
    const { payoutTaskId: taskId, network, payTo, price } = job;
    if (taskId === null || network === null || payTo === null || price === null) return null;
    return { taskId, verifyUrl: verifyUrl(base_url, taskId), network, payTo, amount: price };
  }

  @FieldResolver(() => String, descriptionOptions(members.verify_url))
  verifyUrl(@Root() { stampTaskId }: ShownJob, @Ctx() { base_url }: BoardContext): string {
    return verifyUrl(base_url, stampTaskId);
  }
}

@Resolver(() => ShownBid)
export class BoardBidResolver {
  @FieldResolver(() => String, descriptionOptions(JobBidNoun.shape.verify_url))
  verifyUrl(@Root() { stampTaskId }: ShownBid, @Ctx() { base_url }: BoardContext): string {
    return verifyUrl(base_url, stampTaskId);
  }
}
