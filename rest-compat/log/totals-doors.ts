import { z } from 'zod';
import { documents } from '../../schema/documents.ts';
import { DocumentSignatureNoun } from '../../schema/receipt-shapes.ts';
import { BookTotalRequest, ReceiptPath } from '../../schema/requests/receipt.ts';
import { Atomic, nameComponents } from '../answer-shapes.ts';
import { AgentPath } from '../book/doors.ts';
import { documentDoor } from '../door.ts';

/* What is signed behind the log of totals and payments, as it looks on the wire, and the doors that answer it. */

const Hash = z.string().regex(/^[0-9a-f]{64}$/);

const TotalsStatement = z.object({
  schema: z.literal(documents.log_totals),
  profile: z.literal('development').optional(),
  iss: z.string(),
  verify_jwks: z.string(),
  log_id: z.int(),
  tree_size: z.int().describe('Leaves of the log that were counted.'),
  root_hash: Hash.describe('Of the log of so many leaves.'),
  payments_root: Hash.describe('Of the map from payments to the receipts that they back.'),
  books_root: Hash.describe('Of the map from books and rails to what they came to.'),
  computed_at: z.string(),
  signature: DocumentSignatureNoun,
});

const mapProof = {
  siblings: z.array(Hash.nullable()).describe('From the root down; null stands for a part without keys.'),
  instead: z.object({ key: Hash, value: Hash }).optional().describe('Where the key has no value: what stands there.'),
};
const leaf = {
  preimage: z.string().describe("The receipt's payload in canonical JSON."),
  leaf_index: z.int(),
  leaf_hash: Hash,
  inclusion: z.array(Hash).describe('That the log of the statement holds it (RFC 9162 §2.1.3), from the leaf up.'),
};
const signed = { verify_jwks: z.string(), statement: TotalsStatement };

const BookTotalAnswer = z.object({
  schema: z.literal(documents.book_total),
  agent_id: z.int(),
  rails: z.array(
    z.object({
      rail: z.string(),
      rows: z.int(),
      total: Atomic,
      root: Hash.describe("Of the rail's sum tree."),
      ...mapProof,
    }),
  ),
  row: z
    .object({
      task_id: z.string(),
      rail: z.string(),
      row: z.int().describe('Its place in the sum tree, from 0.'),
      amount: Atomic,
      ...leaf,
      path: z
        .array(z.object({ sum: Atomic, hash: Hash }))
        .describe('Its neighbours in the sum tree, from the leaf up.'),
    })
    .optional(),
  ...signed,
});

const PaymentProofAnswer = z.object({
  schema: z.literal(documents.payment_proof),
  task_id: z.string(),
  payment: z.object({ network: z.string(), payment_ref: z.string(), transfer_index: z.int() }),
  ...leaf,
  ...mapProof,
  ...signed,
});

nameComponents({ LogTotals: TotalsStatement, BookTotal: BookTotalAnswer, PaymentProof: PaymentProofAnswer });

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
