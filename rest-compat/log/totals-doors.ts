import { z } from 'zod';
import { documents } from '../../schema/documents.ts';
import { DocumentSignatureNoun } from '../../schema/receipt-shapes.ts';
import { BookTotalRequest, ReceiptPath } from '../../schema/requests/receipt.ts';
import { Atomic, nameComponents } from '../answer-shapes.ts';
import { AgentPath } from '../book/doors.ts';
import { documentDoor } from '../door.ts';

/* Signed statements of totals and payments, and the endpoints that return them. */

const Hash = z.string().regex(/^[0-9a-f]{64}$/);
const verify_jwks = z.string().describe('URL of the public keys (JWK Set) that verify the statement.');

const TotalsStatement = z.object({
  schema: z.literal(documents.log_totals),
  profile: z
    .literal('development')
    .optional()
    .describe('`development` if stand-ins were in use. Absent in production.'),
  iss: z.string().describe('Base URL of the issuer.'),
  verify_jwks,
  log_id: z.int().describe('Id of the receipt log.'),
  tree_size: z.int().describe('Number of leaves of the log that the statement counts.'),
  root_hash: Hash.describe('Root hash, in hex, of the log at `tree_size` leaves.'),
  payments_root: Hash.describe('Root hash, in hex, of the map from payments to the receipts that they back.'),
  books_root: Hash.describe('Root hash, in hex, of the map from books and rails to their totals.'),
  computed_at: z.string().describe('Time the statement was made (RFC 3339, UTC).'),
  signature: DocumentSignatureNoun.describe('Signature of the issuer over the other members.'),
});

const mapProof = {
  siblings: z
    .array(Hash.nullable())
    .describe('Hashes (hex) of the sibling nodes, from the root down. Null for a node that has no keys below it.'),
  instead: z
    .object({
      key: Hash.describe('Key that the map has in place of the key that is looked up (SHA-256, in hex).'),
      value: Hash.describe('Value that the map has for `key` (SHA-256, in hex).'),
    })
    .optional()
    .describe(
      'Key and value that the map has in place of the key that is looked up: proof that the map does not have that key. Absent if the map has it, or if the place is empty.',
    ),
};
const leaf = {
  preimage: z.string().describe('Payload of the receipt, as canonical JSON.'),
  leaf_index: z.int().describe('Index of the leaf in the log, from 0.'),
  leaf_hash: Hash.describe('Hash of the leaf, in hex: SHA-256 of 0x00 and `preimage`.'),
  inclusion: z
    .array(Hash)
    .describe(
      'Inclusion proof of the leaf in the log of the statement (RFC 9162 §2.1.3): hashes (hex), from the leaf up.',
    ),
};
const statementMembers = {
  verify_jwks,
  statement: TotalsStatement.describe('The newest signed statement of totals, as GET /log/totals returns it.'),
};
const rail = z.string().describe('Rail of the counted payments, such as `usdc`.');
const task_id = z.string().describe('Task id of the receipt.');

const BookTotalAnswer = z.object({
  schema: z.literal(documents.book_total),
  agent_id: z.int().describe('Id of the agent whose book it is.'),
  rails: z
    .array(
      z.object({
        rail,
        rows: z.int().describe('Number of collected rows of the book on this rail, which the total counts.'),
        total: Atomic.describe('Sum of the amounts of these rows, in atomic USDC.'),
        root: Hash.describe('Root hash of the sum tree over these rows (SHA-256, in hex).'),
        ...mapProof,
      }),
    )
    .describe('Totals of the book, by rail.'),
  row: z
    .object({
      task_id,
      rail,
      row: z.int().describe('Index of the row in the sum tree of its rail, from 0.'),
      amount: Atomic,
      ...leaf,
      path: z
        .array(z.object({ sum: Atomic, hash: Hash.describe('Hash of the sibling node (SHA-256, in hex).') }))
        .describe('Sibling nodes in the sum tree, from the leaf up to the root.'),
    })
    .optional()
    .describe('Proof that the row with the requested task_id is in the total. Absent if none was requested.'),
  ...statementMembers,
});

const PaymentProofAnswer = z.object({
  schema: z.literal(documents.payment_proof),
  task_id,
  payment: z
    .object({
      network: z.string().describe('Network of the payment.'),
      payment_ref: z.string().describe('Payment as `network:transaction`, such as `base:0x…`.'),
      transfer_index: z
        .int()
        .describe(
          'Index of the transfer, from 0: of its log in the block on Base, of its instruction in the transaction on Solana.',
        ),
    })
    .describe('Payment that backs the receipt: network, reference and index of its transfer.'),
  ...leaf,
  ...mapProof,
  ...statementMembers,
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
    summary: "Get the total of the book's collected receipts, with its proof under the newest statement of totals",
    tags: ['book'],
    possession: 'required',
    field: 'bookTotal',
    params: AgentPath,
    query: BookTotalRequest,
    response: BookTotalAnswer,
    errors: ['not_found', 'unavailable'],
  }),
] as const;
