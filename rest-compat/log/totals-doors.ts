import { BookTotalRequest, ReceiptPath } from '../../schema/requests/receipt.ts';
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
    params: ReceiptPath,
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
    query: BookTotalRequest,
    response: BookTotalAnswer,
    errors: ['not_found', 'unavailable'],
  }),
] as const;
