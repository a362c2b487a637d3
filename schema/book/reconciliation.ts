import { z } from 'zod';
import { documents } from '../documents.ts';
import { reconciliationLimits } from '../limits.ts';
import { shownAsJson, TimeMember, word } from '../noun.ts';
import { DocumentSignatureNoun } from '../receipt-shapes.ts';
import { reconciliationFaults, reconciliationStates, walletProvenBy } from '../reconciliation.ts';
import { transferClasses } from '../reconciliation-rule.ts';

/* A reconciliation as it is shown, and its signed report. */

const Used = z
  .object({
    by: z
      .enum(['receipt', 'ingest'])
      .describe('Kind of the record. `receipt`: a receipt. `ingest`: a recorded payment to somebody else.'),
    book: z
      .enum(['own', 'another', 'none'])
      .describe(
        'Book that has the record. `own`: the book of the requester. `another`: the book of another agent. `none`: no book.',
      ),
    task_id: z
      .string()
      .optional()
      .describe(
        'Task id of the receipt or of the recorded payment. Absent if the report may only state that one exists: it belongs to another owner, or is a recorded payment whose payer is not proven.',
      ),
    verify_url: z.string().optional().describe('URL of the public page of the receipt. Absent without `task_id`.'),
  })
  .describe('Receipt or recorded payment of this service that names the transfer. Absent if none does.');

export const ReconciledTransferNoun = z.object({
  block_number: z.int().describe('Number of the block of the transfer.'),
  log_index: z.int().describe('Log index of the transfer within its block.'),
  tx_hash: z.string().describe('Hash of the transaction (0x and 64 hex digits).'),
  payee: z.string().describe('Wallet that was paid, in EIP-55 spelling.'),
  amount: z.string().describe('Amount of the transfer, in atomic USDC.'),
  class: z
    .enum(transferClasses)
    .describe(
      '`receipted`: a receipt of this service names it. `ingested`: a recorded payment to somebody else names it. `unreceipted`: neither names it. `self_dealt`: it went to a wallet of the same owner, whatever names it.',
    ),
  used: Used.optional(),
});

const Sum = z.object({
  count: z.int().describe('Number of transfers of this class.'),
  amount: z.string().describe('Sum of the transfers of this class, in atomic USDC.'),
});

export const ReconciliationReportNoun = z
  .looseObject({
    schema: z.literal(documents.reconciliation).describe(`Always \`${documents.reconciliation}\`.`),
    iss: z.string().describe('Base URL of the issuer.'),
    wallet: z.string().describe('Address of the wallet, in EIP-55 spelling.'),
    from_block: z.int().describe('Number of the first block of Base that is read.'),
    from_block_hash: z.string().describe('Hash of the first block (0x and 64 hex digits).'),
    to_block: z.int().describe('Number of the last block of Base that is read.'),
    to_block_hash: z.string().describe('Hash of the last block (0x and 64 hex digits).'),
    final: z.boolean().describe('True if the last block was final: no other block can replace it.'),
    own_wallets: z
      .array(z.string())
      .describe(
        'Known wallets of the owner, in EIP-55 spelling: `wallet`, that of the agent, and the payees of class `self_dealt` in `transfers`.',
      ),
    transfers: z
      .array(ReconciledTransferNoun)
      .describe(
        `Transfers by block and log index, oldest first: all, or the first ${reconciliationLimits.listed_transfers_max} if \`truncated\` is true.`,
      ),
    transfers_total: z.int().describe('Number of all transfers, including those that are not listed.'),
    truncated: z.boolean().describe('True if there are more transfers than are listed. The sums cover all of them.'),
    sums: z
      .object({
        receipted: Sum.describe('Transfers that a receipt of this service names.'),
        ingested: Sum.describe('Transfers that a recorded payment to somebody else names.'),
        unreceipted: Sum.describe('Transfers that neither a receipt nor a recorded payment names.'),
        self_dealt: Sum.describe('Transfers to a wallet of the same owner, whatever names them.'),
      } satisfies Record<(typeof transferClasses)[number], typeof Sum>)
      .describe('Number and amount of all transfers, by class.'),
    signature: DocumentSignatureNoun.describe('Signature over the canonical JSON of the other members.'),
  })
  .describe('Signed report: `npm run verify -- FILE` checks it offline.');

export const ReconciliationNoun = z.object({
  report_id: z.string().describe('Id of the reconciliation.'),
  agent_id: z.int().describe('Id of the agent whose book it is.'),
  wallet: z.string().describe('Address of the wallet, in EIP-55 spelling.'),
  wallet_proven_by: word(walletProvenBy).describe(
    'Proof that the wallet belongs to the caller. `agent_wallet`: it has registered the agent. `signature`: it has signed the request.',
  ),
  from_block: z.int().describe('Number of the first block of Base that is read.'),
  to_block: z.int().describe('Number of the last block of Base that is read.'),
  state: word(reconciliationStates).describe('State of the reconciliation: `running`, `done` or `failed`.'),
  reason: word(reconciliationFaults)
    .nullable()
    .describe('Why there is no report, as a code, such as `chain_unavailable`. Null unless the state is `failed`.'),
  blocks_done: z.int().describe('Number of blocks that have been read so far.'),
  blocks_total: z.int().describe('Number of blocks to read.'),
  transfers_found: z.int().describe('Number of transfers that have been found so far.'),
  asked_at: TimeMember.describe('Time the reconciliation was requested (RFC 3339, UTC).'),
  ended_at: TimeMember.nullable().describe(
    'Time the report was signed or failed (RFC 3339, UTC). Null while the state is `running`.',
  ),
  report: shownAsJson(ReconciliationReportNoun)
    .nullable()
    .meta({ cost: 10 })
    .describe(
      'Signed report (svc402.reconciliation.v1): `npm run verify -- FILE` checks it offline. Null unless the state is `done`.',
    ),
});
