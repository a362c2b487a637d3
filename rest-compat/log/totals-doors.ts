import { z } from 'zod';
import { documents } from '../../schema/documents.ts';
import { DocumentSignatureNoun } from '../../schema/receipt-shapes.ts';
import { BookTotalRequest, ReceiptPath } from '../../schema/requests/receipt.ts';
import { Atomic, nameComponents } from '../answer-shapes.ts';
import { AgentPath } from '../book/doors.ts';
import { documentDoor } from '../door.ts';

/* Signed statements of totals and payments, and the endpoints that return them. */

const Hash = z.string().regex(/^[0-9a-f]{64}$/);
const verify_jwks = z.string().describe('URL of the keys that verify the statement.');

const TotalsStatement = z.object({
  schema: z.literal(documents.log_totals),
  profile: z
    .literal('development')
    .optional()
    .describe('`development` if stand-ins were in use. Absent in production.'),
  iss: z.string().describe('Base URL of the issuer.'),
  verify_jwks,
  log_id: z.int().describe('Number of the log.'),
  tree_size: z.int().describe('Number of leaves of the log that the statement counts.'),
  root_hash: Hash.describe('Root hash of the log at that size.'),
  payments_root: Hash.describe('Root hash of the map from payments to the receipts that they back.'),
  books_root: Hash.describe('Root hash of the map from books and rails to their totals.'),
  computed_at: z.string().describe('Time the statement was made (RFC 3339, UTC).'),
  signature: DocumentSignatureNoun.describe('Signature over the other members.'),
});

const mapProof = {
  siblings: z
    .array(Hash.nullable())
    .describe('Hashes of the neighbours, from the root down. Null: a part without keys.'),
  instead: z
    .object({ key: Hash.describe('Hash of the other key.'), value: Hash.describe('Value of the other key.') })
    .optional()
    .describe('Other key at this place of the map. Only if the map does not have the key.'),
};
const leaf = {
  preimage: z.string().describe('Payload of the receipt, as canonical JSON.'),
  leaf_index: z.int().describe('Index of the leaf in the log, from 0.'),
  leaf_hash: Hash.describe('Hash of the leaf.'),
  inclusion: z
    .array(Hash)
    .describe('Inclusion proof of the leaf in the log of the statement (RFC 9162 §2.1.3), from the leaf up.'),
};
const signed = { verify_jwks, statement: TotalsStatement.describe('The newest signed statement.') };
const rail = z.string().describe('Payment rail.');
const task_id = z.string().describe('Task id of the receipt.');

const BookTotalAnswer = z.object({
  schema: z.literal(documents.book_total),
  agent_id: z.int().describe('Id of the agent whose book it is.'),
  rails: z
    .array(
      z.object({
        rail,
        rows: z.int().describe('Number of rows that are counted.'),
        total: Atomic.describe('Total of the rail, in atomic USDC.'),
        root: Hash.describe('Root hash of the sum tree of the rail.'),
        ...mapProof,
      }),
    )
    .describe('Totals of the book, by rail.'),
  row: z
    .object({
      task_id,
      rail,
      row: z.int().describe('Index of the row in the sum tree, from 0.'),
      amount: Atomic,
      ...leaf,
      path: z
        .array(z.object({ sum: Atomic, hash: Hash.describe('Hash of the sibling in the sum tree.') }))
        .describe('Neighbours in the sum tree, from the leaf up.'),
    })
    .optional()
    .describe('Proof that the row with the requested task_id is in the total. Absent if none was requested.'),
  ...signed,
});

const PaymentProofAnswer = z.object({
  schema: z.literal(documents.payment_proof),
  task_id,
  payment: z
    .object({
      network: z.string().describe('Network of the payment.'),
      payment_ref: z.string().describe('Payment as `network:transaction`.'),
      transfer_index: z.int().describe('Index of the transfer in its block or transaction.'),
    })
    .describe('Payment that backs the receipt.'),
  ...leaf,
  ...mapProof,
  ...signed,
});

nameComponents({ LogTotals: TotalsStatement, BookTotal: BookTotalAnswer, PaymentProof: PaymentProofAnswer });

/** Signed totals of each book, and the proof that one payment backs one receipt. */
export const totalsDoors = [
  documentDoor({
    name: 'get_log_totals',
    methods: ['GET'],
    path: '/log/totals',
    summary: 'Get the newest signed statement of the totals of all books and of the receipt that each payment backs',
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
    summary: 'Prove that the payment of a receipt backs no other receipt, by the newest statement of totals',
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
    summary: "Get the total of the book's collected receipts, with the proof that the newest statement has it",
    tags: ['book'],
    possession: 'required',
    field: 'bookTotal',
    params: AgentPath,
    query: BookTotalRequest,
    response: BookTotalAnswer,
    errors: ['not_found', 'unavailable'],
  }),
] as const;
