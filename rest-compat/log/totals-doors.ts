import { z } from 'zod';
import { present } from '../../schema/canonical-json.ts';
import { AgentPath } from '../book/doors.ts';
import { documentDoor } from '../door.ts';
import { BookTotalAnswer, PaymentProofAnswer, TotalsStatement } from './totals-answers.ts';

/** What is signed behind the log: what each book came to, and that one payment backs one receipt. */
export const totalsDoors = [
  documentDoor({
    name: 'get_log_totals',
    methods: ['GET'],
    path: '/log/totals',
    summary: 'The newest signed statement over what all books came to and which receipt each payment backs',
    tags: ['log'],
    field: 'logTotals',
    cache: 'public, max-age=2',
    response: TotalsStatement,
    errors: ['not_found', 'unavailable'],
  }),
  documentDoor({
    name: 'get_payment_proof',
    methods: ['GET'],
    path: '/log/payment-proof/{task_id}',
    summary: 'That the payment of a receipt backs it and no other, under the newest statement',
    tags: ['log'],
    field: 'paymentProof',
    params: z.object({ task_id: z.string().max(64) }),
    variables: ({ params }) => ({ taskId: params.task_id }),
    response: PaymentProofAnswer,
    errors: ['not_found', 'unavailable'],
  }),
  documentDoor({
    name: 'get_book_total',
    methods: ['GET'],
    path: '/v1/agents/{agent_id}/book/total',
    summary: 'What the book came to by its collected receipts, with the proof under the newest statement',
    tags: ['book'],
    possession: 'required',
    field: 'bookTotal',
    params: AgentPath,
    query: z.strictObject({
      task_id: z.string().min(1).max(64).optional().describe('Of a row: then with the proof that it is in the total.'),
    }),
    variables: ({ params, query }) => ({ agentId: params.agent_id, ...present({ taskId: query.task_id }) }),
    response: BookTotalAnswer,
    errors: ['not_found', 'unavailable'],
  }),
] as const;
