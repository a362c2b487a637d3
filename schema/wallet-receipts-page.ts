import { z } from 'zod';

/* What is shown of the receipts of a wallet, beside the receipts themselves. */

export const WalletReceiptsNoun = z.object({
  wallet: z.string().describe('Address of the wallet, in EIP-55 spelling.'),
  next: z.int().nullable().describe('`after` of the next page. Null if this is the last page.'),
});

export const WALLET_RECEIPTS = 'Receipts of this page, in the order of the log.';
