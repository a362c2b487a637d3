import { z } from 'zod';
import { limits } from '../limits.ts';
import { textForm } from '../signed-words.ts';
import { walletReceiptsPage } from '../wallet-receipts.ts';

/* What a wallet asks of its own receipts. */

const signed = {
  signed_at: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .describe('Time the wallet signed, in Unix seconds. Valid for 300 seconds.'),
  signature: z
    .string()
    .max(limits.wallet_signature_chars_max)
    .describe(`Signature over ${textForm('receipts')}: personal_sign, ERC-1271 or ERC-6492.`),
};

const page = {
  after: z
    .int()
    .min(-1)
    .max(2 ** 31 - 1)
    .optional()
    .describe(
      'Returns only receipts after this leaf of the log: `next` of the previous page. Default: from the first.',
    ),
  limit: z
    .int()
    .min(1)
    .max(walletReceiptsPage.most)
    .optional()
    .describe(`Number of receipts, 1 to ${walletReceiptsPage.most}. Default: ${walletReceiptsPage.usual}.`),
};

/** By what a wallet proves that it asks, and for which page. */
export const WalletReceiptsRequest = z.strictObject({ ...signed, ...page });

/** By what a wallet proves that it asks. */
export const WalletProof = z.strictObject({ wallet: z.string().describe('Address of the wallet on Base.'), ...signed });

/** The same as one member. */
export const WalletProofMember = z.object({ proof: WalletProof.describe('What the wallet has signed.') });

/** For which page. */
export const WalletReceiptsPage = z.strictObject(page);
