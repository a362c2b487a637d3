import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import {
  DisputeNoun,
  DisputeReasonMember,
  DisputeStatusNoun,
  DisputesNoun,
  FiledDisputeNoun,
} from '../../schema/dispute/dispute.ts';
import { documents } from '../../schema/documents.ts';
import { disputeLimits } from '../../schema/limits.ts';
import { DisputePage, DisputePath, DisputeRequest } from '../../schema/requests/dispute.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { queryOf } from '../text-members.ts';
import { AgentPath } from './doors.ts';

/* The doors of disputes, and the signed document of one, as it looks on the wire. */

const Verdict = z
  .looseObject({
    schema: z.literal(documents.dispute_verdict),
    iss: z.string(),
    rule_version: z.int(),
    outcome: DisputeNoun.shape.outcome.unwrap().optional().describe('Left out while the dispute is open.'),
    reason: DisputeReasonMember,
    revision: z.int().optional().describe('Number of this judgement, from 1. Left out under rule versions 1 and 2.'),
    supersedes: z.string().optional().describe('SHA-256 of the signed document that this one supersedes.'),
    status_url: z
      .string()
      .optional()
      .describe('Public URL that names the latest judgement. Left out under rule versions 1 and 2.'),
    final: z.boolean().optional().describe('True for a refund, which no later verdict supersedes.'),
    decides_after: z
      .string()
      .optional()
      .describe('While open: the time after which it can be decided (RFC 3339, UTC).'),
    standing_task_id: z
      .string()
      .optional()
      .describe('Task of the charge that stands, if two were made for the same request.'),
    owed_back: z
      .object({ task_id: z.string(), amount: z.string() })
      .optional()
      .describe('For a refund: the charge that the issuer owes back, in atomic USDC.'),
    owed_by_winner: z
      .object({ agent_id: z.int(), amount: z.string() })
      .optional()
      .describe(
        'For a paid job whose output was not revealed: the price that its winner was paid, in atomic USDC. It is not a debt of the issuer.',
      ),
    facts: z
      .array(z.object({ name: z.string(), value: z.unknown(), from: z.string() }))
      .describe('By which it was decided, and where each comes from.'),
    moves_money: z.literal(false),
    means: z.string(),
    signature: z.object({ alg: z.literal('ES256'), kid: z.string(), value: z.string() }),
  })
  .describe('Signed whole, and with all that it takes to run the rule again: `npm run verify -- FILE`.');

export const DisputeAnswer = DisputeNoun.extend({ verdict: Verdict });

nameComponents({
  DisputeStatus: DisputeStatusNoun,
  DisputeSummary: DisputeNoun,
  Dispute: DisputeAnswer,
  Disputes: DisputesNoun,
  DisputeVerdict: Verdict,
});

/** What is claimed of rows, and decided by what the book and its receipts say. */
export const disputeDoors = [
  documentDoor({
    name: 'list_disputes',
    methods: ['GET'],
    path: '/v1/agents/{agent_id}/book/dispute',
    summary: 'What was claimed of rows of the book, and decided; newest first',
    tags: ['book'],
    possession: 'required',
    field: 'disputes',
    params: AgentPath,
    query: queryOf(DisputePage),
    response: DisputesNoun,
    errors: ['book_damaged'],
  }),
  documentDoor({
    name: 'file_dispute',
    effect: 'adds',
    methods: ['POST'],
    path: '/v1/agents/{agent_id}/book/dispute',
    summary: 'Claims something of a row: a signed verdict where the records decide it, and no money moves',
    tags: ['book'],
    possession: 'required',
    status: 201,
    again: { status: 200, is: ({ answer }) => memberOf(answer, 'filed') === false },
    body_bytes_max: disputeLimits.request_bytes_max,
    field: 'fileDispute',
    shows: FiledDisputeNoun.extend({ dispute: DisputeAnswer }),
    params: AgentPath,
    body: DisputeRequest,
    answer: ({ answer }) => memberOf(answer, 'dispute'),
    response: DisputeAnswer,
    errors: ['not_found', 'disputes_full', 'book_damaged', 'record_damaged'],
  }),
  documentDoor({
    name: 'get_dispute',
    methods: ['GET'],
    path: '/v1/agents/{agent_id}/book/dispute/{dispute_id}',
    summary: 'A dispute with its signed verdict, which can be run again offline',
    tags: ['book'],
    possession: 'required',
    field: 'dispute',
    params: AgentPath.extend(DisputePath.shape),
    response: DisputeAnswer,
    errors: ['not_found', 'book_damaged'],
  }),
  documentDoor({
    name: 'get_dispute_status',
    methods: ['GET'],
    path: '/dispute/{dispute_id}',
    summary: 'Number and hash of the latest judgement of a dispute: shows whether a verdict was superseded',
    crawled: false,
    tags: ['book'],
    field: 'disputeStatus',
    params: DisputePath,
    response: DisputeStatusNoun,
    errors: ['not_found'],
  }),
] as const;

function memberOf(answer: JsonObject[string] | undefined, name: string): Json {
  return isJsonObject(answer) ? (answer[name] ?? null) : null;
}
