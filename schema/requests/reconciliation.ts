import { z } from 'zod';
import { INT_MAX, limits, reconciliationLimits } from '../limits.ts';
import { textForm } from '../signed-words.ts';
import { PossessionMembers, type WithoutPossession } from './possession.ts';
import { WalletReceiptsRequest } from './receipt.ts';

/* Requests of /v1/agents/{agent_id}/book/reconciliation. */

/** Within GraphQL's Int. */
const Block = z.int().min(0).max(INT_MAX);

const { signature, signed_at } = WalletReceiptsRequest.shape;
const SIGNED = `Signature of the wallet over ${textForm('reconcile')}: personal_sign, ERC-1271 or ERC-6492.`;
const unless = 'Not needed if `wallet` is the wallet of the agent.';

/** Body of POST /v1/agents/{agent_id}/book/reconciliation. Possession is checked before the body is parsed. */
export const ReconciliationRequest = PossessionMembers.extend({
  wallet: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/, { error: 'is not an address: 0x and 40 hex digits' })
    .describe('Address on Base (0x and 40 hex digits) of the wallet whose USDC transfers are reported.'),
  from_block: Block.describe('Number of the first block of Base to read.'),
  to_block: Block.describe(
    `Number of the last block to read: at most ${reconciliationLimits.blocks_max} blocks, both ends included.`,
  ),
  signature: signature.optional().describe(`${SIGNED} ${unless}`),
  signed_at: signed_at.optional().describe(`${signed_at.description} ${unless}`),
}).strict();
export type ReconciliationRequest = WithoutPossession<z.output<typeof ReconciliationRequest>>;

/** A reconciliation in a path. */
export const ReconciliationPath = z.object({
  report_id: z.string().min(1).max(limits.id_chars_max).describe('Id of the reconciliation.'),
});
