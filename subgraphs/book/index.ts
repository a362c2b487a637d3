import type { AnyPaid } from '../sale.ts';
import { type AddedResolvers, buildSubgraph, type Subgraph } from '../subgraph.ts';
import { BookAlertsResolver } from './alerts/alerts.resolver.ts';
import { ApprovalResolver } from './approval/approval.resolver.ts';
import { ApprovalRequest } from './approval/approval-request.entity.ts';
import { Dispute } from './dispute/dispute.entity.ts';
import { DisputeResolver } from './dispute/dispute.resolver.ts';
import { EscrowBacking, EscrowFulfillment, StoredA2aEscrow } from './escrow/a2a-escrow.entity.ts';
import { A2aEscrowResolver } from './escrow/a2a-escrow.resolver.ts';
import { StoredLedgerEscrow } from './escrow/ledger-escrow.entity.ts';
import { LedgerEscrowResolver } from './escrow/ledger-escrow.resolver.ts';
import { BookExportResolver } from './export/export.resolver.ts';
import { PullExportResolver } from './export/publish.resolver.ts';
import { PullExport } from './export/pull-export.entity.ts';
import { InflowResolver } from './inflow/inflow.resolver.ts';
import { ForeignIngest } from './ingest/ingest.entity.ts';
import { type IngestParts, ingestPaid } from './ingest/ingest.paid.ts';
import { IngestResolver } from './ingest/ingest.resolver.ts';
import { BookHead } from './ledger/book.entity.ts';
import { BookEvent } from './ledger/event.entity.ts';
import { BookIntent } from './ledger/intent.entity.ts';
import { BlockedHourRow, RepeatedEvents, ReplayHour } from './ledger/repeated-events.entity.ts';
import { BookRow } from './ledger/row.entity.ts';
import { BookSum } from './ledger/sum.entity.ts';
import { BookCorrection, BookMerge, BookSupersession } from './ledger/supersession.entity.ts';
import { BookLineageResolver } from './lineage/lineage.resolver.ts';
import { BookCoreBaseline } from './migration.ts';
import { BookResolver, bookWritten } from './page/book.resolver.ts';
import {
  AgentBookResolver,
  BookAgentResolver,
  ReceiptRowResolver,
  resolveBook,
  ViewerResolver,
} from './page/book-links.resolver.ts';
import { BookFeedResolver } from './page/feed.resolver.ts';
import { BookRowResolver } from './page/row.resolver.ts';
import { BookSequenceResolver } from './page/sequence.resolver.ts';
import { BookPolicyResolver } from './policy/policy.resolver.ts';
import { PolicySimulationResolver } from './policy/simulation/simulation.resolver.ts';
import { AgentRecordResolver } from './record/record.resolver.ts';
import { RouterBookResolver } from './router/router.resolver.ts';
import { RouterBook, RouterGeneration, RouterSum, RouterUse } from './router/router-book.entity.ts';
import { SliceAssignment } from './slice/assignment.entity.ts';
import { AssignmentResolver } from './slice/assignment.resolver.ts';
import { BookSliceResolver, sliceWritten } from './slice/slice.resolver.ts';
import { WebhookDeadLetter } from './webhook/dead-letter.entity.ts';
import { WebhookDeliveriesResolver } from './webhook/deliveries.resolver.ts';
import { Webhook } from './webhook/webhook.entity.ts';
import { WebhookResolver } from './webhook/webhook.resolver.ts';

export const bookEntities = [
  BookHead,
  BookRow,
  BookEvent,
  BookIntent,
  RepeatedEvents,
  ReplayHour,
  BlockedHourRow,
  BookSum,
  PullExport,
  BookCorrection,
  BookMerge,
  BookSupersession,
  SliceAssignment,
  Dispute,
  StoredLedgerEscrow,
  StoredA2aEscrow,
  EscrowBacking,
  EscrowFulfillment,
  Webhook,
  WebhookDeadLetter,
  RouterBook,
  RouterGeneration,
  RouterSum,
  RouterUse,
  ForeignIngest,
  ApprovalRequest,
];
export const bookMigrations = [BookCoreBaseline];

const named = (reference: object) => reference;

export function bookSubgraph(added: AddedResolvers = []): Promise<Subgraph> {
  const resolvers = [
    BookResolver,
    BookPolicyResolver,
    PolicySimulationResolver,
    BookRowResolver,
    BookFeedResolver,
    AgentBookResolver,
    BookAgentResolver,
    ReceiptRowResolver,
    ViewerResolver,
    BookExportResolver,
    PullExportResolver,
    InflowResolver,
    BookSequenceResolver,
    BookLineageResolver,
    AgentRecordResolver,
    BookAlertsResolver,
    AssignmentResolver,
    BookSliceResolver,
    DisputeResolver,
    LedgerEscrowResolver,
    A2aEscrowResolver,
    WebhookResolver,
    WebhookDeliveriesResolver,
    RouterBookResolver,
    IngestResolver,
    ApprovalResolver,
    ...added,
  ] as const;
  // This subgraph has only the keys of agents and receipts.
  const references = { Book: resolveBook, Agent: named, Receipt: named };
  return buildSubgraph('book', { resolvers, written: { ...bookWritten, ...sliceWritten } }, references);
}

/** Paid fields of this subgraph. A field that is missing here could be claimed, but its work could never be finished. */
export function bookSold(parts: IngestParts): readonly AnyPaid[] {
  return [ingestPaid(parts) as unknown as AnyPaid];
}
