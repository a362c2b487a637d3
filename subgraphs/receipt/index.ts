import type { AnyPaid } from '../sale.ts';
import { buildSubgraph, type Subgraph } from '../subgraph.ts';
import { ClaimSlot, PaymentClaim, ProcessLease } from './claim/claim.entity.ts';
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
import type { Hubs } from './inference/hubs/open.ts';
import { imagePaid } from './inference/images/image.paid.ts';
import { ImageResolver } from './inference/images/image.resolver.ts';
import { ModelResolver } from './inference/models/model.resolver.ts';
import { responsePaid, responseStream } from './inference/responses/response.paid.ts';
import { ResponseResolver, ResponseStreamResolver } from './inference/responses/response.resolver.ts';
import { quotePaid, taskPaid } from './inference/tasks/task.paid.ts';
import { TaskResolver } from './inference/tasks/task.resolver.ts';
import { IssuerSnapshotRow, ReceiptPolicyRow } from './issuer/history.entity.ts';
import { LogAnchorRow } from './log/anchor.entity.ts';
import { LogBreakRecord, LogHead, LogNode, TreeHead } from './log/log.entity.ts';
import { LogResolver } from './log/log.resolver.ts';
import { ReceiptBaseline } from './migration.ts';
import { ProofResolver } from './proof/proof.resolver.ts';
import { Receipt } from './receipt/receipt.entity.ts';
import { IssuerResolver, ReceiptResolver, receiptReference } from './receipt/receipt.resolver.ts';
import { SignedRefusal } from './refusal/refusal.entity.ts';
import { RefusalResolver } from './refusal/refusal.resolver.ts';

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
export const receiptMigrations = [ReceiptBaseline];

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

/** What is sold here. A paid field that is missing could be claimed and never be finished. */
export function receiptSold({ hubs }: { readonly hubs: Hubs }): readonly AnyPaid[] {
  return [
    completionPaid(hubs),
    completionStream(hubs),
    responsePaid(hubs),
    responseStream(hubs),
    taskPaid(hubs),
    quotePaid(hubs),
    imagePaid(hubs),
    transcriptionPaid(hubs),
  ] as unknown as AnyPaid[];
}
