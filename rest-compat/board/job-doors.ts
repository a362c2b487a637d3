import { z } from 'zod';
import { jobLimits } from '../../schema/board/job-limits.ts';
import { toCamelKeys } from '../../schema/camel.ts';
import { type JsonObject, present } from '../../schema/canonical-json.ts';
import { AuthorRequest } from '../../schema/requests/author.ts';
import {
  BidRequest,
  DeliverRequest,
  JobId,
  JobPage,
  PickRequest,
  PostJobRequest,
  RevealRequest,
} from '../../schema/requests/board-job.ts';
import { operation } from '../document.ts';
import { documentDoor } from '../door.ts';
import { PUBLIC_BOARD } from '../kept-by-board.ts';
import { digits } from '../text-members.ts';
import {
  BidAnswer,
  JobAnswer,
  JobOutputAnswer,
  JobsAnswer,
  JobWithBidsAnswer,
  PostedJobAnswer,
} from './job-answers.ts';
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
    document: operation('board/post_job'),
    body: PostJobRequest,
    variables: ({ body }) => present({ agentId: body.agent_id ?? undefined, input: inputOf(body) }),
    response: PostedJobAnswer,
    errors: stampErrors,
  }),
  documentDoor({
    ...PUBLIC_BOARD,
    name: 'list_jobs',
    methods: ['GET'],
    path: '/v1/board/jobs',
    summary: 'The jobs of the board, newest first',
    tags,
    document: operation('board/list_jobs'),
    query: z.strictObject({
      status: JobPage.shape.status,
      limit: digits(JobPage.shape.limit.unwrap())
        .optional()
        .describe(JobPage.shape.limit.description ?? ''),
      before: JobPage.shape.before,
    }),
    variables: ({ query }) => present(query),
    response: JobsAnswer,
  }),
  documentDoor({
    ...PUBLIC_BOARD,
    // A hidden job is shown to its parties alone.
    unkept_for_holders: true,
    name: 'get_job',
    methods: ['GET'],
    path: '/v1/board/jobs/{id}',
    summary: 'A job as it stands, with what was bid for it',
    tags,
    document: operation('board/get_job'),
    params: JobPath,
    variables: ({ params }) => ({ jobId: params.id }),
    response: JobWithBidsAnswer,
    errors: ['job_not_found'],
  }),
  documentDoor({
    name: 'bid_on_job',
    ...stamped,
    path: '/v1/board/jobs/{id}/bid',
    summary: 'Bids on a job, or revises the bid once, for a stamp',
    example: { price: '10000' },
    document: operation('board/bid_on_job'),
    params: JobPath,
    body: BidRequest,
    variables: ({ params, body }) => ({ ...by(params, body), input: inputOf(body) }),
    response: BidAnswer,
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
    document: operation('board/pick_bid'),
    params: JobPath,
    body: PickRequest,
    variables: ({ params, body }) => ({ ...by(params, body), bidId: body.bid_id }),
    response: JobAnswer,
    errors: [
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
    summary: 'Delivers by the hash of the output, for the winner',
    tags,
    possession: 'required',
    document: operation('board/deliver_job'),
    params: JobPath,
    body: DeliverRequest,
    variables: ({ params, body }) =>
      present({ ...by(params, body), outputSha256: body.output_sha256, preview: body.preview ?? undefined }),
    response: JobAnswer,
    errors: ['job_not_found', 'job_state_conflict'],
  }),
  documentDoor({
    name: 'pay_job',
    ...stamped,
    path: '/v1/board/jobs/{id}/pay',
    summary: 'Pays for a delivered job in two, for the poster: the winner, then the fee; each 402 asks for the next',
    example: {},
    challenge: 'after_state',
    price: { ...stamped.price, amount_atomic: null },
    status: 200,
    document: operation('board/pay_job'),
    params: JobPath,
    body: AuthorRequest,
    variables: ({ params, body }) => by(params, body),
    response: JobAnswer,
    errors: [
      ...stampErrors,
      ...(['job_not_found', 'job_state_conflict', 'job_leg_in_flight', 'job_already_paid', 'payer_is_payee'] as const),
    ],
  }),
  documentDoor({
    name: 'reveal_job',
    methods: ['POST'],
    path: '/v1/board/jobs/{id}/reveal',
    summary: 'Reveals the output of a paid job to its poster, for the winner; it is not published',
    tags,
    possession: 'required',
    body_bytes_max: jobLimits.reveal_request_bytes_max,
    document: operation('board/reveal_job'),
    params: JobPath,
    body: RevealRequest,
    variables: ({ params, body }) => ({ ...by(params, body), output: body.output, encoding: body.encoding }),
    response: JobAnswer,
    errors: ['output_mismatch', 'job_not_found', 'job_state_conflict'],
  }),
  documentDoor({
    name: 'challenge_job',
    methods: ['POST'],
    path: '/v1/board/jobs/{id}/challenge',
    summary: 'Says that nothing came for what was paid, for the poster; a valid reveal still closes the job',
    tags,
    possession: 'required',
    document: operation('board/challenge_job'),
    params: JobPath,
    body: AuthorRequest,
    variables: ({ params, body }) => by(params, body),
    response: JobAnswer,
    errors: ['job_not_found', 'job_state_conflict'],
  }),
  documentDoor({
    name: 'get_job_output',
    methods: ['GET'],
    path: '/v1/board/jobs/{id}/output',
    summary: 'What the winner has revealed, for the poster alone, for thirty days',
    tags,
    // A proof names its agent in the path or in a body, and here is neither.
    possession: 'session',
    document: operation('board/get_job_output'),
    params: JobPath,
    variables: ({ params }) => ({ jobId: params.id }),
    response: JobOutputAnswer,
    errors: ['job_not_found', 'not_found'],
  }),
] as const;
