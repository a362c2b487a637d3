import { z } from 'zod';
import { isJsonObject, type Json } from '../../schema/canonical-json.ts';
import { WalletReceiptsRequest } from '../../schema/requests/wallet-receipts.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { ReceiptAnswer } from './signed-receipt.ts';

const WalletReceiptsAnswer = z.object({
  wallet: z.string().describe('In EIP-55 spelling.'),
  receipts: z.array(ReceiptAnswer).describe('By the order of the log.'),
  next: z.int().nullable().describe('`after` of the next page; null where this is the last.'),
});
nameComponents({ WalletReceipts: WalletReceiptsAnswer });

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
    shows: WalletReceiptsAnswer.extend({ receipts: z.array(z.object({ document: ReceiptAnswer })) }),
    params: z.object({ wallet: z.string().max(64) }),
    body: WalletReceiptsRequest,
    variables: ({ params, body: { signature, signed_at, after, limit } }) => ({
      proof: { wallet: params.wallet, signature, signedAt: signed_at },
      after: after ?? null,
      limit: limit ?? null,
    }),
    answer: ({ answer }) => documentsOf(answer ?? null),
    response: WalletReceiptsAnswer,
    errors: ['invalid_wallet', 'control_proof_invalid', 'chain_unavailable', 'unavailable', 'record_damaged'],
  }),
] as const;

/** Each receipt as its own page shows it. */
function documentsOf(answer: Json): Json {
  if (!isJsonObject(answer) || !Array.isArray(answer.receipts)) return answer;
  const receipts = answer.receipts.map(receipt => (isJsonObject(receipt) ? (receipt.document ?? null) : null));
  return { ...answer, receipts };
}
