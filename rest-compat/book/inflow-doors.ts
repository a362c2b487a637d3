import { z } from 'zod';
import { CorrectedInflowNoun, Row } from '../../schema/book/row.ts';
import { BookSequenceNoun } from '../../schema/book-sequence.ts';
import { RowFilterMembers } from '../../schema/requests/book.ts';
import { CorrectionRequest, InflowRequest } from '../../schema/requests/inflow.ts';
import { documentDoor } from '../door.ts';
import { correctedNulls, rowAnswerNulls } from './answers.ts';
import { AgentPath } from './doors.ts';

/** Whom a signed claim is asked about may be out of reach. */
const byClaim = ['inflow_claim_invalid', 'duplicate_task', 'chain_unavailable', 'book_damaged'] as const;

/** Rows that no payment stands behind, and how all rows of a book follow each other. */
export const inflowDoors = [
  documentDoor({
    name: 'record_inflow',
    effect: 'adds',
    methods: ['POST'],
    path: '/v1/agents/{agent_id}/book/inflow',
    summary: 'Records that something is set aside: a signed claim of bucket and allocation, without a payment',
    tags: ['book'],
    possession: 'required',
    slice_token: 'instead',
    status: 201,
    field: 'recordInflow',
    params: AgentPath,
    body: InflowRequest,
    nulls: rowAnswerNulls,
    response: Row,
    errors: ['slice_exceeded', ...byClaim],
  }),
  documentDoor({
    name: 'correct_inflow',
    effect: 'adds',
    methods: ['POST'],
    path: '/v1/agents/{agent_id}/book/inflow/correct',
    summary: 'Appends a correction to an inflow, or to an earlier correction of it',
    tags: ['book'],
    possession: 'required',
    field: 'correctInflow',
    params: AgentPath,
    body: CorrectionRequest,
    nulls: correctedNulls,
    response: CorrectedInflowNoun,
    errors: ['inflow_not_found', ...byClaim],
  }),
  documentDoor({
    name: 'get_book_gaps',
    methods: ['GET'],
    path: '/v1/agents/{agent_id}/book/gaps',
    summary: 'Whether the rows of the book are without a gap, and how corrections follow each other',
    tags: ['book'],
    possession: 'required',
    field: 'bookSequence',
    params: AgentPath,
    query: z.strictObject({
      task_id: RowFilterMembers.task_id.describe('Of a row: then `supersession` is of the chain that it stands in.'),
    }),
    response: BookSequenceNoun,
    errors: ['book_damaged', 'not_found'],
  }),
] as const;
