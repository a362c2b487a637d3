import { buildSubgraph, type Subgraph } from '../subgraph.ts';
import { TranscriptionResolver } from './inference/audio/transcription.resolver.ts';
import { CompletionResolver } from './inference/completions/completion.resolver.ts';
import { CompletionStreamResolver } from './inference/completions/stream.resolver.ts';
import { ImageResolver } from './inference/images/image.resolver.ts';
import { ModelResolver } from './inference/models/model.resolver.ts';
import { ResponseResolver } from './inference/responses/response.resolver.ts';
import { ResponseStreamResolver } from './inference/responses/stream.resolver.ts';
import { TaskResolver } from './inference/tasks/task.resolver.ts';
import { IssuerSnapshotRow, ReceiptPolicyRow } from './issuer/history.entity.ts';
import { IssuerHistoryTables } from './issuer/migration.ts';
import { IdempotentCalls } from './key-call/idempotent.migration.ts';
import { IdempotentCall } from './key-call/idempotent-call.entity.ts';
import { KeyCall } from './key-call/key-call.entity.ts';
import { KeyCallTable } from './key-call/migration.ts';
import { LogAnchorRow } from './log/anchor.entity.ts';
import { LogAnchorTable } from './log/anchor.migration.ts';
import { LogHaltColumn } from './log/halt.migration.ts';
import { LogBreakRecord, LogHead, LogNode, TreeHead } from './log/log.entity.ts';
import { LogResolver } from './log/log.resolver.ts';
import { LogBreakDamage } from './log/migration.ts';
import { ReceiptLogMigration } from './migration.ts';
import { ClaimSlot, PaymentClaim, ProcessLease } from './payment/claim.entity.ts';
import { ContractPayers } from './payment/contract-payers.migration.ts';
import { ChainEpoch } from './payment/epoch.entity.ts';
import { ExpiredByPayer } from './payment/expired.migration.ts';
import { FacilitatorTables } from './payment/facilitator.migration.ts';
import { ClaimFailures } from './payment/failures.migration.ts';
import { SettlementFees } from './payment/fee.migration.ts';
import { LapsedClaims } from './payment/lapsed.migration.ts';
import { PaymentTables } from './payment/migration.ts';
import { SettlementsByNetwork } from './payment/network.migration.ts';
import { OpenClaimsByPayer } from './payment/open-claims.migration.ts';
import { ClaimsByKeyAlone } from './payment/payment-id.migration.ts';
import { ClaimsByPublicId } from './payment/public-id.migration.ts';
import { RefusedClaims } from './payment/refused.migration.ts';
import { RerunHolds } from './payment/rerun.migration.ts';
import { RevertedByPayer } from './payment/reverted.migration.ts';
import { SettlementAttempt, SettlementFeeDay, SettlementRow, SettlerKeyRow } from './payment/settlement.entity.ts';
import { SettlementTables } from './payment/settlement.migration.ts';
import { SettlementStatusResolver } from './payment/status.resolver.ts';
import { ProofResolver } from './proof/proof.resolver.ts';
import { ReceiptsInline } from './receipt/inline.migration.ts';
import { Receipt } from './receipt/receipt.entity.ts';
import { IssuerResolver, ReceiptResolver, receiptReference } from './receipt/receipt.resolver.ts';
import { RefusalTables } from './refusal/migration.ts';
import { SignedRefusal } from './refusal/refusal.entity.ts';
import { RefusalResolver } from './refusal/refusal.resolver.ts';
import { RefusalsByTask } from './refusal/task.migration.ts';

export type { ReceiptContext } from './context.ts';
export { type DamagedRecord, hearDamagedRecords } from './damaged-record.ts';
export { transcriptionPaid } from './inference/audio/transcription.paid.ts';
export { type HubSettings, isRouted } from './inference/catalogue.ts';
export { completionPaid } from './inference/completions/completion.paid.ts';
export { completionStream } from './inference/completions/completion.stream.ts';
export type { InferenceContext } from './inference/context.ts';
export { eventsIn } from './inference/hubs/events.ts';
export { type HubOptions, type Hubs, openHubs } from './inference/hubs/open.ts';
export { imagePaid } from './inference/images/image.paid.ts';
export { responsePaid } from './inference/responses/response.paid.ts';
export { responseStream } from './inference/responses/response.stream.ts';
export { HubFailed } from './inference/route.ts';
export { quotePaid } from './inference/tasks/quote.paid.ts';
export { taskPaid } from './inference/tasks/task.paid.ts';
export { isVendorBlind } from './inference/vendor-blind.ts';
export { type Issuer, openIssuer } from './issuer/keys.ts';
export { recordIssuer, restoreHistories } from './issuer/record.ts';
export {
  beginKeyCalls,
  dropKeyCall,
  endKeyCalls,
  forgetKeyCalls,
  type KeyCallHold,
  LostKeyCall,
} from './key-call/hold.ts';
export {
  dropNames,
  forgetNames,
  keepNamed,
  type NamedAnswer,
  type NamedCall,
  type NameStanding,
  type NameTaking,
  nameStanding,
  takeNames,
} from './key-call/idempotent.ts';
export type { AnchorAttempt } from './log/anchor.entity.ts';
export {
  type AnchorBirth,
  type AnchorBounds,
  type AnchorPlace,
  anchorStanding,
  journalAnchor,
  journalReplacement,
  minedAnchors,
  moveAnchor,
  type OpenAnchor,
  openAnchor,
} from './log/anchor-journal.ts';
export { type DeclaredAnchor, declaredAnchors, grownHead, type ProvenHeads, proveHeads } from './log/anchored-head.ts';
export type { Damage } from './log/audit.ts';
export { auditStored } from './log/audit-stored.ts';
export { declareBreak, headToContinue } from './log/break.ts';
export { lastNotExtended } from './log/extension.ts';
export {
  announceHalt,
  HALT_NOTICE,
  type LogHalt,
  LogHalted,
  type Mismatch,
  mismatchSentence,
  newestBreak,
} from './log/halt.ts';
export { emptyHead, linkFromText, lockLogHead, type OpenLog } from './log/head.ts';
export { type LogIntegrity, proveLogIntact } from './log/intact.ts';
export { KnownLog } from './log/known-log.ts';
export { lookAtLog } from './log/look.ts';
export { type SavedHead, savedHead, UnreadableHead } from './log/saved-head.ts';
export { signedHead } from './log/signed-head.ts';
export { type HeadName, LOG_ID, type SignedTreeHead, type TreeHeadFacts } from './log/tree-head.ts';
export { collectedPayer } from './receipt/collected-payer.ts';
export { receiptDocument } from './receipt/document.ts';
export { booksOfNewestReceipts, readReceipts, receiptsByTask } from './receipt/find.ts';
export { receiptHeaders } from './receipt/headers.ts';
export { issueReceipts } from './receipt/issue.ts';
export { setLane } from './receipt/lane.ts';
export { type PreparedReceipt, prepareReceipt, type ReceiptFacts } from './receipt/prepare.ts';
export { Receipt } from './receipt/receipt.entity.ts';
export { recordedTask } from './receipt/task.ts';
export { type Verification, verifyReceipt } from './receipt/verify.ts';
export type { Report } from './receipt/verify-report.ts';
export { refusalDocument, refusalUrl } from './refusal/document.ts';
export { refusalById } from './refusal/find.ts';
export { issueRefusals, type RefusedCall, type Refuser } from './refusal/issue.ts';
export { isRefusal, type RefusalVerification, verifyRefusal } from './refusal/verify.ts';

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
  SettlementFeeDay,
  SettlementRow,
  SettlerKeyRow,
  SignedRefusal,
  KeyCall,
  IdempotentCall,
  IssuerSnapshotRow,
  ReceiptPolicyRow,
  LogAnchorRow,
];
export const receiptMigrations = [
  ReceiptLogMigration,
  PaymentTables,
  SettlementTables,
  FacilitatorTables,
  RefusalTables,
  RefusedClaims,
  RerunHolds,
  LogBreakDamage,
  OpenClaimsByPayer,
  RefusalsByTask,
  RevertedByPayer,
  ReceiptsInline,
  ClaimsByKeyAlone,
  KeyCallTable,
  ClaimsByPublicId,
  SettlementsByNetwork,
  ExpiredByPayer,
  ClaimFailures,
  SettlementFees,
  IssuerHistoryTables,
  LapsedClaims,
  LogAnchorTable,
  ContractPayers,
  LogHaltColumn,
  IdempotentCalls,
];

export function receiptSubgraph(): Promise<Subgraph> {
  return buildSubgraph(
    'receipt',
    {
      resolvers: [
        ReceiptResolver,
        IssuerResolver,
        LogResolver,
        RefusalResolver,
        SettlementStatusResolver,
        ProofResolver,
        CompletionResolver,
        CompletionStreamResolver,
        ModelResolver,
        ResponseResolver,
        ResponseStreamResolver,
        TaskResolver,
        ImageResolver,
        TranscriptionResolver,
      ],
    },
    { Receipt: receiptReference },
  );
}

export { type AwaitedArrival, awaitArrivals, closeArrival, takeArrivals } from './payment/arrival.ts';
export { type BlockedClaim, blockClaims, standingClaims, unclaim } from './payment/block.ts';
export { PaymentClaim } from './payment/claim.entity.ts';
export { isSameRequest } from './payment/claim.machine.ts';
export { type ClaimOutcome, type ClaimRequest, claimPayments, type Lease, slotsMissed } from './payment/claim.ts';
export { type ContractPayer, contractPayersAmong } from './payment/contract-payers.ts';
export { leaseOfTask } from './payment/doubt.ts';
export { beginEpoch, closeOpenClaims, type KnownChain, knownChain, rememberBlock } from './payment/epoch.ts';
export { raiseFee, reserveFee } from './payment/fee.ts';
export { type Figures, figures } from './payment/figures.ts';
export { forgetClaims } from './payment/forget.ts';
export { heldOnBook } from './payment/held.ts';
export {
  identifierSlot,
  type NamedPayment,
  type NamedStanding,
  namedPayment,
  nameOfSlot,
} from './payment/identifier.ts';
export { routerKeyMarkOf } from './payment/landing.ts';
export { anybodyServes, endLease, renewLease } from './payment/lease.ts';
export { type Means, openClaimsOf, openSignaturesOf } from './payment/means.ts';
export { countMismatch, isGuessing } from './payment/mismatch.ts';
export {
  type Abandoned,
  abandonClaim,
  beginSettling,
  claimByKey,
  forgetAnswer,
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
export { dropRerun, keepRerun, type RerunHold, takeRerun } from './payment/rerun.ts';
export { walletRevertedLately } from './payment/reverted.ts';
export {
  type Attempt,
  abandonSettlement,
  journalAttempt,
  journalSettlement,
  lockForAttempt,
  type MinedBlock,
  markMined,
  markRechecked,
  type SettlementBirth,
} from './payment/settlement.ts';
export {
  type DuePost,
  dropPost,
  isPosted,
  journalPost,
  markCarried,
  noteVouch,
  type PostPace,
  takeDuePosts,
  vouchOf,
} from './payment/settlement-posts.ts';
export {
  findSettlement,
  minedSettlements,
  type OpenSettlement,
  sentSettlements,
  transactionOf,
} from './payment/settlement-reads.ts';
export { findTask } from './payment/task.ts';
export { type Unfinished, unfinished } from './payment/unfinished.ts';
