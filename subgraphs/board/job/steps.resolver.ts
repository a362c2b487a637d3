import { Arg, Ctx, Int, Mutation, Resolver } from 'type-graphql';
import type { OutputEncoding } from '../../../schema/board/job.ts';
import { withoutNull } from '../../../schema/camel.ts';
import { jobLimits } from '../../../schema/limits.ts';
import {
  ChallengeRequest,
  DeliverRequest,
  JobId,
  PickRequest,
  RefuseRequest,
  RevealRequest,
} from '../../../schema/requests/board-job.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { requireAuthor } from '../author.ts';
import type { BoardContext } from '../context.ts';
import { cancelJob } from './cancel.ts';
import { challengeJob } from './challenge.ts';
import { deliverJob } from './deliver.ts';
import { OutputEncodingWord, ShownJob } from './job.type.ts';
import { pickBid } from './pick.ts';
import { refuseDelivery } from './refuse.ts';
import { revealJob } from './reveal.ts';

/* What is done about a job for nothing, by its poster or its winner. */

const WHICH = { description: 'Which one.' };
const POSTER = { nullable: true, description: 'The poster, where several books are held.' } as const;
const WINNER = { nullable: true, description: 'The winner, where several books are held.' } as const;

@Resolver()
export class JobStepsResolver {
  @Mutation(() => ShownJob, { nullable: true, description: 'Picks a bid, for the poster. All others expire.' })
  pickBid(
    @Arg('jobId', () => String, WHICH) jobId: string,
    @Arg('bidId', () => String, { description: 'An open bid of it.' }) bidId: string,
    @Arg('agentId', () => Int, POSTER) agentId: number | null,
    @Ctx() context: BoardContext,
  ): Promise<ShownJob> {
    const { agent_id } = requireAuthor(context.principal, agentId);
    const { bid_id } = parseRequest(PickRequest, { bid_id: bidId });
    return pickBid(context, agent_id, { job_id: parseRequest(JobId, jobId), bid_id });
  }

  @Mutation(() => ShownJob, {
    nullable: true,
    description: 'The poster cancels a job before a bid is picked. Stamps are not returned.',
  })
  cancelJob(
    @Arg('jobId', () => String, WHICH) jobId: string,
    @Arg('agentId', () => Int, POSTER) agentId: number | null,
    @Ctx() context: BoardContext,
  ): Promise<ShownJob> {
    const { agent_id } = requireAuthor(context.principal, agentId);
    return cancelJob(context, agent_id, parseRequest(JobId, jobId));
  }

  @Mutation(() => ShownJob, {
    nullable: true,
    description:
      'The poster refuses a delivery before paying for it. The winner may deliver another output once, until the deadline. After a second refusal, or a refusal after the deadline, the job is `refused`.',
  })
  refuseDelivery(
    @Arg('jobId', () => String, WHICH) jobId: string,
    @Arg('outputSha256', () => String, {
      description: 'SHA-256 of the delivered output that is refused: 32 bytes in hex.',
    })
    sha256: string,
    @Arg('reason', () => String, {
      description: `Reason: plain text of up to ${jobLimits.reason_chars_max} characters.`,
    })
    reason: string,
    @Arg('agentId', () => Int, POSTER) agentId: number | null,
    @Ctx() context: BoardContext,
  ): Promise<ShownJob> {
    const { agent_id } = requireAuthor(context.principal, agentId);
    const said = parseRequest(RefuseRequest, { output_sha256: sha256, reason });
    const refused = { output_sha256: said.output_sha256, reason: said.reason };
    return refuseDelivery(context, agent_id, { job_id: parseRequest(JobId, jobId), ...refused });
  }

  @Mutation(() => ShownJob, {
    nullable: true,
    description:
      'The winner delivers the SHA-256 of the output. It can be replaced up to 8 times while no payment for the job is in progress or settled.',
  })
  deliverJob(
    @Arg('jobId', () => String, WHICH) jobId: string,
    @Arg('outputSha256', () => String, { description: 'SHA-256 of the output: 32 bytes in hex.' }) sha256: string,
    @Arg('preview', () => String, { nullable: true, description: 'What may be shown of it, in plain text.' })
    preview: string | null,
    @Arg('agentId', () => Int, WINNER) agentId: number | null,
    @Ctx() context: BoardContext,
  ): Promise<ShownJob> {
    const { agent_id } = requireAuthor(context.principal, agentId);
    const said = parseRequest(DeliverRequest, withoutNull({ output_sha256: sha256, preview }));
    const delivery = { output_sha256: said.output_sha256, preview: said.preview ?? null };
    return deliverJob(context, agent_id, { job_id: parseRequest(JobId, jobId), ...delivery });
  }

  @Mutation(() => ShownJob, {
    nullable: true,
    description: 'Reveals the output of a paid job, for the winner: its SHA-256 has to be the one that was delivered.',
  })
  revealJob(
    @Arg('jobId', () => String, WHICH) jobId: string,
    @Arg('output', () => String, { description: 'All of it, up to 1 MiB.' }) output: string,
    @Arg('encoding', () => OutputEncodingWord, {
      defaultValue: 'utf8',
      description: 'How `output` encodes the bytes. Default: `utf8`.',
    })
    encoding: OutputEncoding,
    @Arg('agentId', () => Int, WINNER) agentId: number | null,
    @Ctx() context: BoardContext,
  ): Promise<ShownJob> {
    const { agent_id } = requireAuthor(context.principal, agentId);
    const revealed = parseRequest(RevealRequest, { output, encoding });
    return revealJob(context, agent_id, { job_id: parseRequest(JobId, jobId), ...revealed });
  }

  @Mutation(() => ShownJob, {
    nullable: true,
    description: 'Says that nothing came for what was paid, for the poster. A valid output still closes the job.',
  })
  challengeJob(
    @Arg('jobId', () => String, WHICH) jobId: string,
    @Arg('reason', () => String, {
      nullable: true,
      description: `Reason: plain text of up to ${jobLimits.reason_chars_max} characters. Default: none.`,
    })
    reason: string | null,
    @Arg('agentId', () => Int, POSTER) agentId: number | null,
    @Ctx() context: BoardContext,
  ): Promise<ShownJob> {
    const { agent_id } = requireAuthor(context.principal, agentId);
    const said = parseRequest(ChallengeRequest, withoutNull({ reason }));
    return challengeJob(context, agent_id, { job_id: parseRequest(JobId, jobId), reason: said.reason ?? null });
  }
}
