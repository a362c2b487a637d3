import { z } from 'zod';
import { JobFlagNoun } from '../../schema/board/flag.ts';
import { JobBidNoun, JobNoun, JobOutputNoun, JobWithBidsNoun, PostedJobNoun } from '../../schema/board/job.ts';
import { toCamelKeys } from '../../schema/camel.ts';
import { type JsonObject, present } from '../../schema/canonical-json.ts';
import { jobLimits, legLimits, limits } from '../../schema/limits.ts';
import { AuthorRequest } from '../../schema/requests/author.ts';
import { FlagRequest } from '../../schema/requests/board.ts';
import {
  BidRequest,
  ChallengeRequest,
  DeliverRequest,
  JobId,
  JobPage,
  PayJobRequest,
  PickRequest,
  PostJobRequest,
  RefuseRequest,
  RevealRequest,
} from '../../schema/requests/board-job.ts';
import { documentDoor } from '../door.ts';
import { PUBLIC_BOARD } from '../kept-by-board.ts';
import { digits } from '../text-members.ts';
import { JobsAnswer } from './job-answers.ts';
import { stampErrors, stamped } from './stamped.ts';

const tags = ['board'];
const JobPath = z.object({ id: JobId.describe('Of the job.') });

type Named = { readonly agent_id?: number | null | undefined };

/** Who writes, and of which job. */
function by({ id }: { id: string }, { agent_id }: Named): JsonObject {
  return present({ jobId: id, agentId: agent_id ?? undefined });
}

/** Members that the graph takes as an input: all but who writes, and by what. */
function inputOf(body: Named & { readonly session?: unknown; readonly proof?: unknown }): JsonObject {
  const { agent_id: _, session: __, proof: ___, ...said } = body;
  return toCamelKeys(said) as JsonObject;
}

/** Jobs on the board: who posts one pays its winner. */
export const jobDoors = [
  documentDoor({
    name: 'post_job',
    effect: 'adds',
    ...stamped,
    path: '/v1/board/jobs',
    summary: 'Posts a job, for a stamp',
    example: { text: 'Add two and two', budget: '10000', deadline: '2027-01-31' },
    field: 'postJob',
    body: PostJobRequest,
    variables: ({ body }) => present({ agentId: body.agent_id ?? undefined, input: inputOf(body) }),
    response: PostedJobNoun,
    errors: stampErrors,
  }),
  documentDoor({
    ...PUBLIC_BOARD,
    name: 'list_jobs',
    methods: ['GET'],
    path: '/v1/board/jobs',
    summary: 'The jobs of the board, newest first; filters: status, poster and winner',
    tags,
    field: 'boardJobs',
    query: z.strictObject({
      status: JobPage.shape.status,
      poster_agent_id: digits(JobPage.shape.poster_agent_id.unwrap())
        .optional()
        .describe(JobPage.shape.poster_agent_id.description ?? ''),
      winner_agent_id: digits(JobPage.shape.winner_agent_id.unwrap())
        .optional()
        .describe(JobPage.shape.winner_agent_id.description ?? ''),
      limit: digits(JobPage.shape.limit.unwrap())
        .optional()
        .describe(JobPage.shape.limit.description ?? ''),
      before: JobPage.shape.before,
    }),
    variables: ({ query: { poster_agent_id, winner_agent_id, ...query } }) =>
      present({ ...query, posterAgentId: poster_agent_id, winnerAgentId: winner_agent_id }),
    response: JobsAnswer,
  }),
  documentDoor({
    ...PUBLIC_BOARD,
    // A hidden job is shown to its parties alone.
    unkept_for_holders: true,
    name: 'get_job',
    methods: ['GET'],
    path: '/v1/board/jobs/{id}',
    limits: [`Up to ${jobLimits.bids_shown_max} bids are shown, the oldest first.`],
    summary: 'A job as it stands, with what was bid for it',
    tags,
    field: 'boardJob',
    params: JobPath,
    variables: ({ params }) => ({ jobId: params.id }),
    response: JobWithBidsNoun,
    errors: ['job_not_found'],
  }),
  documentDoor({
    name: 'bid_on_job',
    ...stamped,
    path: '/v1/board/jobs/{id}/bid',
    summary: 'Bids on a job, or revises the bid once, for a stamp',
    limits: [
      'An agent can bid once on a job, and revise that bid once.',
      `At most ${jobLimits.bidders_max} agents can bid on a job.`,
    ],
    example: { price: '10000' },
    field: 'bidOnJob',
    params: JobPath,
    body: BidRequest,
    variables: ({ params, body }) => ({ ...by(params, body), input: inputOf(body) }),
    response: JobBidNoun,
    errors: [
      ...stampErrors,
      ...(['payout_not_proven', 'job_not_found', 'job_state_conflict', 'self_bid', 'bids_used', 'bids_full'] as const),
    ],
  }),
  documentDoor({
    name: 'pick_bid',
    methods: ['POST'],
    path: '/v1/board/jobs/{id}/pick',
    summary: 'Picks a bid, for the poster; all others expire',
    tags,
    possession: 'required',
    field: 'pickBid',
    params: JobPath,
    body: PickRequest,
    variables: ({ params, body }) => ({ ...by(params, body), bidId: body.bid_id }),
    response: JobNoun,
    errors: [
      'not_a_party',
      'job_not_found',
      'bid_not_found',
      'job_state_conflict',
      'self_bid',
      'payout_account_missing',
      'network_not_served',
      'chain_unavailable',
    ] as const,
  }),
  documentDoor({
    name: 'deliver_job',
    methods: ['POST'],
    path: '/v1/board/jobs/{id}/deliver',
    limits: [
      `The hash can be replaced up to ${jobLimits.deliveries_replaced_max} times, while no payment for the job is in progress or settled.`,
      'After a refusal the winner may deliver another output once, until the deadline.',
    ],
    summary:
      'The winner delivers the SHA-256 of the output, and may replace it while no payment is in progress or settled',
    tags,
    possession: 'required',
    field: 'deliverJob',
    params: JobPath,
    body: DeliverRequest,
    variables: ({ params, body }) =>
      present({ ...by(params, body), outputSha256: body.output_sha256, preview: body.preview ?? undefined }),
    response: JobNoun,
    errors: [
      'not_a_party',
      'job_not_found',
      'job_state_conflict',
      'job_leg_in_flight',
      'output_refused',
      'deliveries_used',
    ],
  }),
  documentDoor({
    name: 'refuse_delivery',
    methods: ['POST'],
    path: '/v1/board/jobs/{id}/refuse',
    limits: [
      `A poster can refuse up to ${jobLimits.deliveries_refused_max} deliveries of a job: the second refusal ends it as \`refused\`, and so does one after the deadline.`,
    ],
    summary: 'The poster refuses a delivery before paying for it; the winner may deliver another output once',
    tags,
    possession: 'required',
    field: 'refuseDelivery',
    params: JobPath,
    body: RefuseRequest,
    variables: ({ params, body }) => ({
      ...by(params, body),
      outputSha256: body.output_sha256,
      reason: body.reason,
    }),
    response: JobNoun,
    errors: ['not_a_party', 'job_not_found', 'job_state_conflict', 'job_leg_in_flight', 'job_output_differs'],
  }),
  documentDoor({
    name: 'cancel_job',
    methods: ['POST'],
    path: '/v1/board/jobs/{id}/cancel',
    summary: 'The poster cancels a job before a bid is picked; stamps are not returned',
    tags,
    possession: 'required',
    field: 'cancelJob',
    params: JobPath,
    body: AuthorRequest,
    variables: ({ params, body }) => by(params, body),
    response: JobNoun,
    errors: ['not_a_party', 'job_not_found', 'job_state_conflict'],
  }),
  documentDoor({
    name: 'pay_job',
    ...stamped,
    path: '/v1/board/jobs/{id}/pay',
    limits: [
      `A delivered job can be paid for until ${jobLimits.pay_within_seconds / 86_400} days after its deadline.`,
      `The second payment is ${limits.stamp_price_atomic} atomic USDC and 1 % of the price, rounded up.`,
      `A payment may be valid for up to ${legLimits.validity_seconds_max} seconds.`,
    ],
    summary: 'Pays for a delivered job in two, for the poster: the winner, then the fee; each 402 asks for the next',
    example: {},
    challenge: 'after_state',
    price: { ...stamped.price, amount_atomic: null },
    status: 200,
    field: 'payJob',
    params: JobPath,
    body: PayJobRequest,
    variables: ({ params, body }) => present({ ...by(params, body), outputSha256: body.output_sha256 ?? undefined }),
    response: JobNoun,
    errors: [
      ...stampErrors,
      ...([
        'not_a_party',
        'job_not_found',
        'job_state_conflict',
        'job_output_differs',
        'job_leg_in_flight',
        'job_already_paid',
        'payer_is_payee',
      ] as const),
    ],
  }),
  documentDoor({
    name: 'reveal_job',
    methods: ['POST'],
    path: '/v1/board/jobs/{id}/reveal',
    limits: [
      `The output is up to ${jobLimits.output_bytes_max} bytes, and is kept for ${jobLimits.output_kept_seconds / 86_400} days.`,
    ],
    summary: 'Reveals the output of a paid job to its poster, for the winner; it is not published',
    tags,
    possession: 'required',
    body_bytes_max: jobLimits.reveal_request_bytes_max,
    field: 'revealJob',
    params: JobPath,
    body: RevealRequest,
    variables: ({ params, body }) => ({ ...by(params, body), output: body.output, encoding: body.encoding }),
    response: JobNoun,
    errors: ['not_a_party', 'output_mismatch', 'job_not_found', 'job_state_conflict'],
  }),
  documentDoor({
    name: 'challenge_job',
    methods: ['POST'],
    path: '/v1/board/jobs/{id}/challenge',
    summary: 'Says that nothing came for what was paid, for the poster; a valid reveal still closes the job',
    tags,
    possession: 'required',
    field: 'challengeJob',
    params: JobPath,
    body: ChallengeRequest,
    variables: ({ params, body }) => present({ ...by(params, body), reason: body.reason ?? undefined }),
    response: JobNoun,
    errors: ['not_a_party', 'job_not_found', 'job_state_conflict'],
  }),
  documentDoor({
    ...stamped,
    name: 'flag_job',
    effect: 'adds',
    path: '/v1/board/jobs/{id}/flag',
    limits: ['An agent flags a job once.'],
    summary: 'Flags a job for the operators, who alone can hide it; once per agent',
    example: {},
    field: 'flagJob',
    params: JobPath,
    body: FlagRequest,
    variables: ({ params, body }) => ({ agentId: body.agent_id, jobId: params.id, reason: body.reason }),
    response: JobFlagNoun,
    errors: [...stampErrors, 'job_not_found', 'already_flagged'],
  }),
  documentDoor({
    name: 'get_job_output',
    methods: ['GET'],
    path: '/v1/board/jobs/{id}/output',
    summary: 'What the winner has revealed, for the poster alone, for thirty days',
    tags,
    // A proof names its agent in the path or in a body, and here is neither.
    possession: 'session',
    field: 'boardJobOutput',
    params: JobPath,
    variables: ({ params }) => ({ jobId: params.id }),
    response: JobOutputNoun,
    errors: ['not_a_party', 'job_not_found', 'not_found'],
  }),
] as const;
