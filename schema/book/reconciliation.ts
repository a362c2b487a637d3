import { z } from 'zod';
import { documents } from '../documents.ts';
import { shownAsJson, TimeMember, word } from '../noun.ts';
import { reconciliationFaults, reconciliationStates, walletProvenBy } from '../reconciliation.ts';
import { transferClasses } from '../reconciliation-rule.ts';

/* What is shown of a reconciliation, and its signed report. */

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

export const ReconciledTransferNoun = z.object({
  block_number: z.int(),
  log_index: z.int(),
  tx_hash: z.string(),
  payee: z.string().describe('In EIP-55 spelling.'),
  amount: Digits,
  class: z.enum(transferClasses),
  used: Used.optional(),
});

const Sum = z.object({ count: z.int(), amount: Digits });

export const ReconciliationReportNoun = z
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
    transfers: z
      .array(ReconciledTransferNoun)
      .describe("In the chain's order; the first of them where it is `truncated`."),
    transfers_total: z.int(),
    truncated: z.boolean().describe('There are more than are listed; the sums are of all.'),
    sums: z.object(
      Object.fromEntries(transferClasses.map(of => [of, Sum])) as Record<(typeof transferClasses)[number], typeof Sum>,
    ),
    signature: z.object({ alg: z.literal('ES256'), kid: z.string(), value: z.string() }),
  })
  .describe('Signed whole: `npm run verify -- FILE`.');

export const ReconciliationNoun = z.object({
  report_id: z.string().describe('Id of the reconciliation.'),
  agent_id: z.int().describe('Id of the agent of the book.'),
  wallet: z.string().describe('Address of the wallet, in EIP-55 spelling.'),
  wallet_proven_by: word(walletProvenBy).describe('What proves that the wallet belongs to the caller.'),
  from_block: z.int().describe('Number of the first block.'),
  to_block: z.int().describe('Number of the last block.'),
  state: word(reconciliationStates).describe('State of the reconciliation.'),
  reason: word(reconciliationFaults).nullable().describe('Why there is no report. Null unless the state is `failed`.'),
  blocks_done: z.int().describe('Number of blocks that have been read so far.'),
  blocks_total: z.int().describe('Number of blocks to read.'),
  transfers_found: z.int().describe('Number of transfers that have been found so far.'),
  asked_at: TimeMember.describe('Time of the request (RFC 3339, UTC).'),
  ended_at: TimeMember.nullable().describe('Time the report was signed or failed. Null while the state is `running`.'),
  report: shownAsJson(ReconciliationReportNoun)
    .nullable()
    .meta({ cost: 10 })
    .describe(
      'The signed report (svc402.reconciliation.v1): `npm run verify` checks it offline. Null until it is done.',
    ),
});
