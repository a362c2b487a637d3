import { Args, Ctx, Mutation, Resolver } from 'type-graphql';
import type { z } from 'zod';
import { jobLimits } from '../../../schema/limits.ts';
import { AuthorRequest } from '../../../schema/requests/author.ts';
import {
  ChallengeRequest,
  DeliverRequest,
  JobPath,
  PickRequest,
  RefuseRequest,
  RevealRequest,
} from '../../../schema/requests/board-job.ts';
import { type Arguments, argumentsType, readRequest } from '../../graph-type.ts';
import { authorOf } from '../author.ts';
import type { BoardContext } from '../context.ts';
import { deliverJob } from './deliver.ts';
import { ShownJob } from './job.type.ts';
import { cancelJob, pickBid } from './pick.ts';
import { challengeJob, refuseDelivery } from './refuse.ts';
import { revealJob } from './reveal.ts';

/* The unpaid steps of a job, by its poster or its winner. */

const PickArguments = argumentsType(JobPath, PickRequest);
const CancelArguments = argumentsType(JobPath, AuthorRequest);
const RefuseArguments = argumentsType(JobPath, RefuseRequest);
const DeliverArguments = argumentsType(JobPath, DeliverRequest);
const RevealArguments = argumentsType(JobPath, RevealRequest);
const ChallengeArguments = argumentsType(JobPath, ChallengeRequest);

@Resolver()
export class JobStepsResolver {
  @Mutation(() => ShownJob, {
    nullable: true,
    description:
      'The poster picks a bid. All other bids on the job expire. Requires possession of the book of the poster. Null only on error.',
  })
  pickBid(@Args(() => PickArguments) asked: Arguments, @Ctx() context: BoardContext): Promise<ShownJob> {
    const { agent_id, job_id, said } = step(PickRequest, asked, context);
    return pickBid(context, agent_id, { job_id, bid_id: said.bid_id });
  }

  @Mutation(() => ShownJob, {
    nullable: true,
    description:
      'The poster cancels a job before a bid is picked. Stamps are not returned. Requires possession of the book of the poster. Null only on error.',
  })
  cancelJob(@Args(() => CancelArguments) asked: Arguments, @Ctx() context: BoardContext): Promise<ShownJob> {
    const { agent_id, job_id } = step(AuthorRequest, asked, context);
    return cancelJob(context, agent_id, job_id);
  }

  @Mutation(() => ShownJob, {
    nullable: true,
    description:
      'The poster refuses a delivery before paying for it. The winner may then deliver another output until the deadline. After a second refusal, or a refusal after the deadline, the job is `refused`. Requires possession of the book of the poster. Null only on error.',
  })
  refuseDelivery(@Args(() => RefuseArguments) asked: Arguments, @Ctx() context: BoardContext): Promise<ShownJob> {
    const { agent_id, job_id, said } = step(RefuseRequest, asked, context);
    const { output_sha256, reason } = said;
    return refuseDelivery(context, agent_id, { job_id, output_sha256, reason });
  }

  @Mutation(() => ShownJob, {
    nullable: true,
    description: `The winner delivers the SHA-256 of the output. It can be replaced up to ${jobLimits.deliveries_replaced_max} times while no payment for the job is in progress or settled. Requires possession of the book of the winner. Null only on error.`,
  })
  deliverJob(@Args(() => DeliverArguments) asked: Arguments, @Ctx() context: BoardContext): Promise<ShownJob> {
    const { agent_id, job_id, said } = step(DeliverRequest, asked, context);
    const { output_sha256, preview = null } = said;
    return deliverJob(context, agent_id, { job_id, output_sha256, preview });
  }

  @Mutation(() => ShownJob, {
    nullable: true,
    description:
      'The winner reveals the output of a paid job. The SHA-256 of the output must be the delivered one. Requires possession of the book of the winner. Null only on error.',
  })
  revealJob(@Args(() => RevealArguments) asked: Arguments, @Ctx() context: BoardContext): Promise<ShownJob> {
    const { agent_id, job_id, said } = step(RevealRequest, asked, context);
    const { output, encoding } = said;
    return revealJob(context, agent_id, { job_id, output, encoding });
  }

  @Mutation(() => ShownJob, {
    nullable: true,
    description:
      'The poster reports that no output was revealed for a paid job. A valid reveal still closes the job. Requires possession of the book of the poster. Null only on error.',
  })
  challengeJob(@Args(() => ChallengeArguments) asked: Arguments, @Ctx() context: BoardContext): Promise<ShownJob> {
    const { agent_id, job_id, said } = step(ChallengeRequest, asked, context);
    return challengeJob(context, agent_id, { job_id, reason: said.reason ?? null });
  }
}

/** Caller, job and arguments of a step. A caller without possession is refused first. */
function step<S extends z.ZodType>(schema: S, asked: Arguments, context: BoardContext) {
  const { agent_id } = authorOf(context, asked);
  return { agent_id, job_id: readRequest(JobPath, asked).id, said: readRequest(schema, asked, context) };
}
