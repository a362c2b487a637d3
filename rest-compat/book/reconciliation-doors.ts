import { z } from 'zod';
import { documents } from '../../schema/documents.ts';
import { ReconciliationNoun } from '../../schema/reconciliation.ts';
import { transferClasses } from '../../schema/reconciliation-rule.ts';
import { ReconciliationPath, ReconciliationRequest } from '../../schema/requests/reconciliation.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { AgentPath } from './doors.ts';

/* The doors of reconciliations, and what they answer, as it looks on the wire. */

const Digits = z.string().describe('Atomic USDC.');

const Used = z
  .object({
    by: z.enum(['receipt', 'ingest']),
    book: z.enum(['own', 'another', 'none']),
    task_id: z
      .string()
      .optional()
      .describe('Left out where it is nothing of yours: then it is told that there is one.'),
    verify_url: z.string().optional(),
  })
  .describe('What rests on it.');

const Transfer = z.object({
  block_number: z.int(),
  log_index: z.int(),
  tx_hash: z.string(),
  payee: z.string().describe('In EIP-55 spelling.'),
  amount: Digits,
  class: z.enum(transferClasses),
  used: Used.optional(),
});

const Sum = z.object({ count: z.int(), amount: Digits });

const Report = z
  .looseObject({
    schema: z.literal(documents.reconciliation),
    iss: z.string(),
    wallet: z.string(),
    from_block: z.int(),
    from_block_hash: z.string(),
    to_block: z.int(),
    to_block_hash: z.string(),
    final: z.boolean().describe('No other block can take the place of the last any more.'),
    own_wallets: z.array(z.string()),
    transfers: z.array(Transfer).describe("In the chain's order; the first of them where it is `truncated`."),
    transfers_total: z.int(),
    truncated: z.boolean().describe('There are more than are listed; the sums are of all.'),
    sums: z.object(
      Object.fromEntries(transferClasses.map(of => [of, Sum])) as Record<(typeof transferClasses)[number], typeof Sum>,
    ),
    signature: z.object({ alg: z.literal('ES256'), kid: z.string(), value: z.string() }),
  })
  .describe('Signed whole: `npm run verify -- FILE`.');

export const ReconciliationAnswer = ReconciliationNoun.extend({
  report: Report.nullable().describe('The signed report. Null until it is done.'),
});

nameComponents({ Reconciliation: ReconciliationAnswer, ReconciliationReport: Report, ReconciledTransfer: Transfer });

/** What a wallet paid on the chain, held against the receipts and books of this service. */
export const reconciliationDoors = [
  documentDoor({
    name: 'start_reconciliation',
    effect: 'adds',
    methods: ['POST'],
    path: '/v1/agents/{agent_id}/book/reconciliation',
    summary: 'Asks for a signed report of what each USDC transfer of a wallet is, between two blocks of Base',
    tags: ['book'],
    possession: 'required',
    status: 202,
    field: 'startReconciliation',
    params: AgentPath,
    body: ReconciliationRequest,
    response: ReconciliationAnswer,
    errors: [
      'control_proof_missing',
      'control_proof_invalid',
      'reconciliation_running',
      'chain_unavailable',
      'unavailable',
      'book_damaged',
    ],
  }),
  documentDoor({
    name: 'get_reconciliation',
    methods: ['GET'],
    path: '/v1/agents/{agent_id}/book/reconciliation/{report_id}',
    summary: 'A reconciliation: how far it has come, and once it is done the signed report',
    tags: ['book'],
    possession: 'required',
    field: 'reconciliation',
    params: AgentPath.extend(ReconciliationPath.shape),
    response: ReconciliationAnswer,
    errors: ['not_found', 'book_damaged'],
  }),
] as const;
