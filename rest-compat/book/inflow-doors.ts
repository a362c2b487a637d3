import { CorrectedInflowNoun, Row } from '../../schema/book/row.ts';
import { BookSequenceNoun } from '../../schema/book-sequence.ts';
import { SequenceRequest } from '../../schema/requests/book.ts';
import { CorrectionRequest, InflowRequest } from '../../schema/requests/inflow.ts';
import { documentDoor } from '../door.ts';
import { correctedNulls, rowAnswerNulls } from './answers.ts';
import { AgentPath } from './doors.ts';

/** The signature of a contract wallet is checked on its chain, which may be unavailable. */
const claimErrors = ['inflow_claim_invalid', 'duplicate_task', 'chain_unavailable', 'book_damaged'] as const;

/** Rows without a payment, and the sequence of all rows of a book. */
export const inflowDoors = [
  documentDoor({
    name: 'record_inflow',
    effect: 'adds',
    methods: ['POST'],
    path: '/v1/agents/{agent_id}/book/inflow',
    summary: 'Record an inflow: an amount set aside for a purpose, without a payment',
    tags: ['book'],
    possession: 'required',
    slice_token: 'instead',
    status: 201,
    field: 'recordInflow',
    params: AgentPath,
    body: InflowRequest,
    nulls: rowAnswerNulls,
    response: Row,
    errors: ['slice_exceeded', ...claimErrors],
  }),
  documentDoor({
    name: 'correct_inflow',
    idempotent: true,
    effect: 'adds',
    methods: ['POST'],
    path: '/v1/agents/{agent_id}/book/inflow/correct',
    summary: 'Correct an inflow, or an earlier correction of it, by a new row',
    tags: ['book'],
    possession: 'required',
    field: 'correctInflow',
    params: AgentPath,
    body: CorrectionRequest,
    nulls: correctedNulls,
    response: CorrectedInflowNoun,
    errors: ['inflow_not_found', ...claimErrors],
  }),
  documentDoor({
    name: 'get_book_gaps',
    methods: ['GET'],
    path: '/v1/agents/{agent_id}/book/gaps',
    summary: 'Check that the rows of the book have no gap, and show how corrections follow each other',
    tags: ['book'],
    possession: 'required',
    field: 'bookSequence',
    params: AgentPath,
    query: SequenceRequest,
    response: BookSequenceNoun,
    errors: ['book_damaged', 'not_found'],
  }),
] as const;
