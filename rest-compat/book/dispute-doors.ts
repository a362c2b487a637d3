import { isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import {
  DisputeNoun,
  DisputeStatusNoun,
  DisputesNoun,
  FiledDisputeNoun,
  SignedDisputeNoun,
  VerdictNoun,
} from '../../schema/dispute/dispute.ts';
import { disputeLimits } from '../../schema/limits.ts';
import { DisputePage, DisputePath, DisputeRequest } from '../../schema/requests/dispute.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { queryOf } from '../text-members.ts';
import { AgentPath } from './doors.ts';

nameComponents({
  DisputeStatus: DisputeStatusNoun,
  DisputeSummary: DisputeNoun,
  Dispute: SignedDisputeNoun,
  Disputes: DisputesNoun,
  DisputeVerdict: VerdictNoun,
});

/** Claims about rows, and their decisions by what the book and its receipts contain. */
export const disputeDoors = [
  documentDoor({
    name: 'list_disputes',
    methods: ['GET'],
    path: '/v1/agents/{agent_id}/book/dispute',
    summary: 'List the disputes of the book with their decisions, newest first',
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
    tool: { daily: true },
    methods: ['POST'],
    path: '/v1/agents/{agent_id}/book/dispute',
    summary: 'Dispute a row of the book; the response is a signed verdict if the records decide it, and no money moves',
    tags: ['book'],
    possession: 'required',
    status: 201,
    again: { status: 200, is: ({ answer }) => memberOf(answer, 'filed') === false },
    body_bytes_max: disputeLimits.request_bytes_max,
    field: 'fileDispute',
    shows: FiledDisputeNoun,
    params: AgentPath,
    body: DisputeRequest,
    answer: ({ answer }) => memberOf(answer, 'dispute'),
    response: SignedDisputeNoun,
    errors: ['not_found', 'disputes_full', 'book_damaged', 'record_damaged'],
  }),
  documentDoor({
    name: 'get_dispute',
    methods: ['GET'],
    path: '/v1/agents/{agent_id}/book/dispute/{dispute_id}',
    summary: 'Get a dispute with its signed verdict, which can be checked offline',
    tags: ['book'],
    possession: 'required',
    field: 'dispute',
    params: AgentPath.extend(DisputePath.shape),
    response: SignedDisputeNoun,
    errors: ['not_found', 'book_damaged'],
  }),
  documentDoor({
    name: 'get_dispute_status',
    methods: ['GET'],
    path: '/dispute/{dispute_id}',
    summary: 'Get the number and hash of the latest verdict of a dispute, to see whether a verdict was superseded',
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
