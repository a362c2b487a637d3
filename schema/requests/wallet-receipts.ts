import { z } from 'zod';
import { limits } from '../limits.ts';
import { textForm } from '../signed-words.ts';
import { walletReceiptsPage } from '../wallet-receipts.ts';

/** By what a wallet proves that it asks, and for which page. */
export const WalletReceiptsRequest = z.strictObject({
  signed_at: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .describe('When the wallet signed, in Unix seconds: passes for 300 seconds.'),
  signature: z
    .string()
    .max(limits.wallet_signature_chars_max)
    .describe(`Signature over ${textForm('receipts')}: personal_sign, ERC-1271 or ERC-6492.`),
  after: z
    .int()
    .min(-1)
    .max(2 ** 31 - 1)
    .optional()
    .describe('Receipts behind this leaf of the log: see `next`.'),
  limit: z.int().min(1).max(walletReceiptsPage.most).optional().describe(`Default ${walletReceiptsPage.usual}.`),
});
