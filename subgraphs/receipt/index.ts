import { buildSubgraph, type Subgraph } from '../subgraph.ts';
import { ClaimSlot, PaymentClaim, ProcessLease } from './claim/claim.entity.ts';
import { ContractPayers } from './claim/contract-payers.migration.ts';
import { ChainEpoch } from './claim/epoch.entity.ts';
import { ExpiredByPayer } from './claim/expired.migration.ts';
import { FacilitatorTables } from './claim/facilitator.migration.ts';
import { ClaimFailures } from './claim/failures.migration.ts';
import { SettlementFees } from './claim/fee.migration.ts';
import { IdempotentCalls } from './claim/key-call/idempotent.migration.ts';
import { IdempotentCall } from './claim/key-call/idempotent-call.entity.ts';
import { KeyCall } from './claim/key-call/key-call.entity.ts';
import { KeyCallTable } from './claim/key-call/migration.ts';
import { LapsedClaims } from './claim/lapsed.migration.ts';
import { PaymentTables } from './claim/migration.ts';
import { SettlementsByNetwork } from './claim/network.migration.ts';
import { OpenClaimsByPayer } from './claim/open-claims.migration.ts';
import { ClaimsByKeyAlone } from './claim/payment-id.migration.ts';
import { ClaimsByPublicId } from './claim/public-id.migration.ts';
import { RefusedClaims } from './claim/refused.migration.ts';
import { RerunHolds } from './claim/rerun.migration.ts';
import { RevertedByPayer } from './claim/reverted.migration.ts';
import {
  SettlementAttempt,
  SettlementFeeDay,
  SettlementRow,
  SettlerKeyRow,
} from './claim/settlement/settlement.entity.ts';
import { SettlementTables } from './claim/settlement.migration.ts';
import { SettlementStatusResolver } from './claim/settlement-status.resolver.ts';
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
import { LogAnchorRow } from './log/anchor.entity.ts';
import { LogAnchorTable } from './log/anchor.migration.ts';
import { LogHaltColumn } from './log/halt.migration.ts';
import { LogBreakRecord, LogHead, LogNode, TreeHead } from './log/log.entity.ts';
import { LogResolver } from './log/log.resolver.ts';
import { LogBreakDamage } from './log/migration.ts';
import { ReceiptLogMigration } from './migration.ts';
import { ProofResolver } from './proof/proof.resolver.ts';
import { ReceiptsInline } from './receipt/inline.migration.ts';
import { Receipt } from './receipt/receipt.entity.ts';
import { IssuerResolver, ReceiptResolver, receiptReference } from './receipt/receipt.resolver.ts';
import { RefusalTables } from './refusal/migration.ts';
import { SignedRefusal } from './refusal/refusal.entity.ts';
import { RefusalResolver } from './refusal/refusal.resolver.ts';
import { RefusalsByTask } from './refusal/task.migration.ts';

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
