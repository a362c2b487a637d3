import { z } from 'zod';
import { reconciliationLimits } from '../limits.ts';
import { textForm } from '../signed-words.ts';
import { PossessionMembers } from './possession.ts';
import { WalletReceiptsRequest } from './wallet-receipts.ts';

/* What is asked of /v1/agents/{agent_id}/book/reconciliation. */

/** As GraphQL's Int holds it. */
const Block = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);

const { signature, signed_at } = WalletReceiptsRequest.shape;
const SIGNED = `Over ${textForm('reconcile')}: personal_sign, ERC-1271 or ERC-6492.`;
const unless = 'Left out where `wallet` is agentWallet.';

/** What of a reconciliation is the same by REST and on the graph. */
export const ReconciliationMembers = z.strictObject({
  wallet: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/, { error: 'is not an address' })
    .describe('An address on Base: whose transfers of USDC are gone through.'),
  from_block: Block.describe('The first block.'),
  to_block: Block.describe(`The last one: ${reconciliationLimits.blocks_max} blocks at most, both ends included.`),
  signature: signature.optional().describe(`${SIGNED} ${unless}`),
  signed_at: signed_at.optional().describe(`${signed_at.description} ${unless}`),
});
export type ReconciliationMembers = z.output<typeof ReconciliationMembers>;

/** Body of POST /v1/agents/{agent_id}/book/reconciliation; possession in it was looked at before. */
export const ReconciliationRequest = PossessionMembers.extend(ReconciliationMembers.shape).strict();
