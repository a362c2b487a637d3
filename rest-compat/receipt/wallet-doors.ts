import { z } from 'zod';
import { isJsonObject, type Json } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { WalletReceiptsNoun } from '../../schema/receipt-shapes.ts';
import { WalletReceiptsRequest } from '../../schema/requests/receipt.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';

nameComponents({ WalletReceipts: WalletReceiptsNoun });

/** Receipts of a wallet, for the wallet itself. */
export const walletDoors = [
  documentDoor({
    name: 'list_wallet_receipts',
    effect: 'reads',
    methods: ['POST'],
    path: '/v1/wallets/{wallet}/receipts',
    summary: 'List the receipts that a wallet on Base has paid for, by a signature of the wallet',
    tags: ['receipts'],
    field: 'walletReceipts',
    params: z.object({
      wallet: z
        .string()
        .max(limits.path_wallet_chars_max)
        .describe('Address of the wallet on Base (0x and 40 hex digits).'),
    }),
    body: WalletReceiptsRequest,
    answer: ({ answer }) => documentsOf(answer ?? null),
    response: WalletReceiptsNoun,
    errors: ['invalid_wallet', 'control_proof_invalid', 'chain_unavailable', 'unavailable', 'record_damaged'],
  }),
] as const;

/** Each receipt as its public document. */
function documentsOf(answer: Json): Json {
  if (!isJsonObject(answer) || !Array.isArray(answer.receipts)) return answer;
  const receipts = answer.receipts.map(receipt => (isJsonObject(receipt) ? (receipt.document ?? null) : null));
  return { ...answer, receipts };
}
