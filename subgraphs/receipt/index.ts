import { buildSubgraph, type Subgraph } from '../subgraph.ts';
import { CompletionResolver } from './inference/completions/completion.resolver.ts';
import { ModelResolver } from './inference/models/model.resolver.ts';
import { LogBreakRecord, LogHead, LogNode, TreeHead } from './log/log.entity.ts';
import { LogResolver } from './log/log.resolver.ts';
import { ReceiptLogMigration } from './migration.ts';
import { ClaimSlot, PaymentClaim, ProcessLease } from './payment/claim.entity.ts';
import { ChainEpoch } from './payment/epoch.entity.ts';
import { PaymentTables } from './payment/migration.ts';
import { SettlementAttempt, SettlementRow, SettlerKeyRow } from './payment/settlement.entity.ts';
import { SettlementTables } from './payment/settlement.migration.ts';
import { Receipt } from './receipt/receipt.entity.ts';
import { IssuerResolver, ReceiptResolver, receiptReference } from './receipt/receipt.resolver.ts';

export type { ReceiptContext } from './context.ts';
export type { HubSettings } from './inference/catalogue.ts';
export { completionPaid } from './inference/completions/completion.paid.ts';
export type { InferenceContext } from './inference/context.ts';
export { type Hubs, openHubs } from './inference/hubs/open.ts';
export { type Issuer, openIssuer } from './issuer/keys.ts';
export { declareBreak, headToContinue } from './log/break.ts';
export { lockLogHead, type OpenLog, type SignedTreeHead } from './log/head.ts';
export { type LogIntegrity, proveLogIntact } from './log/intact.ts';
export { type SavedHead, savedHead } from './log/saved-head.ts';
export { receiptDocument } from './receipt/document.ts';
export { receiptsByTask } from './receipt/find.ts';
export { receiptHeaders } from './receipt/headers.ts';
export { issueReceipts } from './receipt/issue.ts';
export { type PreparedReceipt, prepareReceipt, type ReceiptFacts } from './receipt/prepare.ts';
export { Receipt } from './receipt/receipt.entity.ts';
export { recordedTask } from './receipt/task.ts';
export { type Verification, verifyReceipt } from './receipt/verify.ts';

export const receiptEntities = [
  LogBreakRecord,
  LogHead,
  LogNode,
  Receipt,
  TreeHead,
  PaymentClaim,
  ClaimSlot,
  ProcessLease,
  ChainEpoch,
  SettlementAttempt,
  SettlementRow,
  SettlerKeyRow,
];
export const receiptMigrations = [ReceiptLogMigration, PaymentTables, SettlementTables];

export function receiptSubgraph(): Promise<Subgraph> {
  return buildSubgraph(
    'receipt',
    { resolvers: [ReceiptResolver, IssuerResolver, LogResolver, CompletionResolver, ModelResolver] },
    { Receipt: receiptReference },
  );
}

export { PaymentClaim } from './payment/claim.entity.ts';
export { type ClaimOutcome, type ClaimRequest, claimPayments, type Lease, slotsMissed } from './payment/claim.ts';
export { beginEpoch, closeOpenClaims, type KnownChain, knownChain, rememberBlock } from './payment/epoch.ts';
export { endLease, renewLease } from './payment/lease.ts';
export {
  type Abandoned,
  abandonClaim,
  beginSettling,
  claimByKey,
  forgetAnswer,
  forgetClaims,
  markFinal,
  markRecorded,
  reopen,
  type Settling,
  storeAnswers,
  takeExpired,
  takeOrphans,
  tasksOfSettlement,
} from './payment/move.ts';
export { allocateNonce } from './payment/nonce.ts';
export {
  type Attempt,
  abandonSettlement,
  journalAttempt,
  journalSettlement,
  lockForAttempt,
  markMined,
  markRechecked,
} from './payment/settlement.ts';
export { findSettlement, minedSettlements, type OpenSettlement, sentSettlements } from './payment/settlement-reads.ts';
export { findTask } from './payment/task.ts';
