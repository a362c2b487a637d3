import { z } from 'zod';
import { isJsonObject, type Json } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { WalletReceiptsNoun } from '../../schema/receipt-shapes.ts';
import { WalletReceiptsRequest } from '../../schema/requests/receipt.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';

nameComponents({ WalletReceipts: WalletReceiptsNoun });

/** What a wallet is told of its own receipts. */
export const walletDoors = [
  documentDoor({
    name: 'list_wallet_receipts',
    effect: 'reads',
    methods: ['POST'],
    path: '/v1/wallets/{wallet}/receipts',
    summary: 'The receipts that a wallet on Base has paid for, for whoever signs with it',
    tags: ['receipts'],
    field: 'walletReceipts',
    params: z.object({ wallet: z.string().max(limits.path_wallet_chars_max) }),
    body: WalletReceiptsRequest,
    answer: ({ answer }) => documentsOf(answer ?? null),
    response: WalletReceiptsNoun,
    errors: ['invalid_wallet', 'control_proof_invalid', 'chain_unavailable', 'unavailable', 'record_damaged'],
  }),
] as const;

/** Each receipt as its own page shows it. */
function documentsOf(answer: Json): Json {
  if (!isJsonObject(answer) || !Array.isArray(answer.receipts)) return answer;
  const receipts = answer.receipts.map(receipt => (isJsonObject(receipt) ? (receipt.document ?? null) : null));
  return { ...answer, receipts };
}
