import type { JsonObject } from './canonical-json.ts';
import { type ClassSums, type TransferClass, transferClasses } from './reconciliation-rule.ts';
import type { WordOf, Words } from './words.ts';

/* Enums of reconciliations, and the sentences that a signed report (svc402.reconciliation.v1) contains. */

export const reconciliationStates = {
  graph: 'ReconciliationState',
  description: 'How far a reconciliation has come, or how it ended.',
  meanings: {
    running: 'Blocks are being read.',
    done: 'The report is signed.',
    failed: 'There is no report. `reason` states why.',
  },
} as const satisfies Words;
export type ReconciliationState = WordOf<typeof reconciliationStates>;

export const walletProvenBy = {
  graph: 'WalletProvenBy',
  description: 'Proof that the wallet belongs to the caller.',
  meanings: {
    agent_wallet: 'The wallet is the one that registered the agent.',
    signature: 'The wallet has signed the request.',
  },
} as const satisfies Words;
export type WalletProvenBy = WordOf<typeof walletProvenBy>;

/** Reasons why there is no report. After each, the same reconciliation can be requested again. */
export const reconciliationFaults = {
  graph: 'ReconciliationFault',
  description: 'Reason why there is no report. The same reconciliation can be started again.',
  meanings: {
    block_absent: 'The chain has no block with the number of the first or the last block of the range.',
    chain_unavailable: 'There was no progress for 10 minutes, because the node of the chain was unavailable.',
    receipts_behind:
      'There was no progress for 10 minutes, because the index of receipts by payment was not up to date.',
    reorganised: 'The chain replaced the blocks by others (reorganisation) while they were read.',
    book_damaged: 'The records of the book contradict each other.',
    interrupted: 'The reconciliation was interrupted, and no process continued it in time.',
  },
} as const satisfies Words;
export type ReconciliationFault = WordOf<typeof reconciliationFaults>;

/** Meaning of each class. Signed with the report. */
export const transferClassMeans = {
  receipted: 'A receipt of this service names this very transfer.',
  ingested: 'It is recorded on a book of this service as a payment to somebody else.',
  unreceipted: 'Nothing on this service rests on it.',
  self_dealt: 'Its payee is among own_wallets: it is no spend, whatever rests on it.',
} as const satisfies Record<TransferClass, string>;

/** What a report does not prove. Signed with it. */
export const RECONCILIATION_DOES_NOT_PROVE =
  'The issuer read the transfers from its own node, and looked for what rests on them at reported_at: whoever doubts it reads the same blocks, by their hashes, from another. ' +
  'A receipt may have followed since. Transfers to the wallet, of other tokens, on other networks and from other wallets are not in it. ' +
  'own_wallets are those that the issuer knows of: a payee that is the same owner’s without having paid here is not among them.';

/** Sums with amounts as digits of atomic USDC, as they are stored and signed. */
export function sumsAsJson(sums: ClassSums): JsonObject {
  return Object.fromEntries(
    transferClasses.map(of => [of, { count: sums[of].count, amount: sums[of].amount.toString() }]),
  );
}
