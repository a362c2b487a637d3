import type { AnyPaid } from '../sale.ts';
import { type AddedResolvers, buildSubgraph, type Subgraph } from '../subgraph.ts';
import { BoughtTaskResolver } from './bought-task/bought-task.resolver.ts';
import { ClaimSlot, DoubtedPayment, JobWorker, PaymentClaim, ProcessLease } from './claim/claim.entity.ts';
import { ChainEpoch } from './claim/epoch.entity.ts';
import { IdempotentCall } from './claim/key-call/idempotent-call.entity.ts';
import { KeyCall } from './claim/key-call/key-call.entity.ts';
import {
  SettlementAttempt,
  SettlementFeeDay,
  SettlementRow,
  SettlerKeyRow,
} from './claim/settlement/settlement.entity.ts';
import { SettlementStatusResolver } from './claim/settlement-status.resolver.ts';
import { transcriptionPaid } from './inference/audio/transcription.paid.ts';
import { TranscriptionResolver } from './inference/audio/transcription.resolver.ts';
import { completionPaid, completionStream } from './inference/completions/completion.paid.ts';
import { CompletionResolver, CompletionStreamResolver } from './inference/completions/completion.resolver.ts';
import { embeddingsPaid } from './inference/embeddings/embedding.paid.ts';
import { EmbeddingResolver, embeddingsWritten } from './inference/embeddings/embedding.resolver.ts';
import type { Hubs } from './inference/hubs/open.ts';
import { imagePaid } from './inference/images/image.paid.ts';
import { ImageResolver } from './inference/images/image.resolver.ts';
import { messagePaid, messageStream } from './inference/messages/message.paid.ts';
import { MessageResolver, MessageStreamResolver } from './inference/messages/message.resolver.ts';
import { ModelResolver } from './inference/models/model.resolver.ts';
import { responsePaid, responseStream } from './inference/responses/response.paid.ts';
import { ResponseResolver, ResponseStreamResolver } from './inference/responses/response.resolver.ts';
import { quotePaid, taskPaid } from './inference/tasks/task.paid.ts';
import { TaskResolver } from './inference/tasks/task.resolver.ts';
import { IssuerRevocationRow, IssuerSnapshotRow, ReceiptPolicyRow } from './issuer/history.entity.ts';
import { SessionRevocation } from './issuer/session-revocation.entity.ts';
import { LogAnchorRow } from './log/anchor.entity.ts';
import { LogCosignature, LogWitnessRow } from './log/cosignature.entity.ts';
import { LogBreakRecord, LogHead, LogNode, TreeHead } from './log/log.entity.ts';
import { LogResolver } from './log/log.resolver.ts';
import { StatsResolver } from './log/stats.resolver.ts';
import { LogTilesResolver } from './log/tiles.resolver.ts';
import { ReceiptCoreBaseline } from './migration.ts';
import { ProofResolver } from './proof/proof.resolver.ts';
import { ReceiptLaneResolver } from './receipt/lane.resolver.ts';
import { Receipt } from './receipt/receipt.entity.ts';
import { IssuerResolver, ReceiptResolver, receiptReference } from './receipt/receipt.resolver.ts';
import { WalletReceiptsResolver } from './receipt/wallet-receipts.resolver.ts';
import { SignedRefusal } from './refusal/refusal.entity.ts';
import { RefusalResolver } from './refusal/refusal.resolver.ts';
import { ServiceMark } from './service-mark/service-mark.entity.ts';
import { WrittenOnce } from './written-once/written-once.entity.ts';

export const receiptEntities = [
  LogBreakRecord,
  LogHead,
  LogNode,
  Receipt,
  TreeHead,
  PaymentClaim,
  ClaimSlot,
  ProcessLease,
  JobWorker,
  DoubtedPayment,
  ChainEpoch,
  SettlementAttempt,
  SettlementFeeDay,
  SettlementRow,
  SettlerKeyRow,
  SignedRefusal,
  KeyCall,
  IdempotentCall,
  WrittenOnce,
  IssuerSnapshotRow,
  IssuerRevocationRow,
  SessionRevocation,
  ReceiptPolicyRow,
  LogAnchorRow,
  LogCosignature,
  LogWitnessRow,
  ServiceMark,
];
export const receiptMigrations = [ReceiptCoreBaseline];

export function receiptSubgraph(added: AddedResolvers = []): Promise<Subgraph> {
  return buildSubgraph(
    'receipt',
    {
      resolvers: [
        ReceiptResolver,
        ReceiptLaneResolver,
        WalletReceiptsResolver,
        BoughtTaskResolver,
        IssuerResolver,
        LogResolver,
        LogTilesResolver,
        StatsResolver,
        RefusalResolver,
        SettlementStatusResolver,
        ProofResolver,
        CompletionResolver,
        CompletionStreamResolver,
        ModelResolver,
        ResponseResolver,
        ResponseStreamResolver,
        MessageResolver,
        MessageStreamResolver,
        TaskResolver,
        ImageResolver,
        EmbeddingResolver,
        TranscriptionResolver,
        ...added,
      ],
      written: embeddingsWritten,
    },
    { Receipt: receiptReference },
  );
}

/** Everything that this subgraph sells. A payment for a field that is missing here could be claimed, but never finished. */
export function receiptSold({ hubs }: { readonly hubs: Hubs }): readonly AnyPaid[] {
  return [
    completionPaid(hubs),
    completionStream(hubs),
    responsePaid(hubs),
    responseStream(hubs),
    messagePaid(hubs),
    messageStream(hubs),
    taskPaid(hubs),
    quotePaid(hubs),
    imagePaid(hubs),
    embeddingsPaid(hubs),
    transcriptionPaid(hubs),
  ] as unknown as AnyPaid[];
}
