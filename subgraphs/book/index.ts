import type { Subgraph } from '../subgraph.ts';
import { buildSubgraph } from '../subgraph.ts';
import { BookAlertsResolver } from './alerts/alerts.resolver.ts';
import { BookAlerts } from './alerts/migration.ts';
import { BookExportResolver } from './export/export.resolver.ts';
import { PullExportTable } from './export/migration.ts';
import { PullExportResolver } from './export/publish.resolver.ts';
import { PullExport } from './export/pull-export.entity.ts';
import { InflowResolver } from './inflow/inflow.resolver.ts';
import { BookHead } from './ledger/book.entity.ts';
import { BookEvent } from './ledger/event.entity.ts';
import { BookIntent } from './ledger/intent.entity.ts';
import { BookSequenceTables } from './ledger/migration.ts';
import { BlockedHourRow, RepeatedEvents, ReplayHour } from './ledger/repeated-events.entity.ts';
import { BookRow } from './ledger/row.entity.ts';
import { BookSum } from './ledger/sum.entity.ts';
import { BookCorrection, BookSupersession } from './ledger/supersession.entity.ts';
import { BookLineageResolver } from './lineage/lineage.resolver.ts';
import { BookLineage } from './lineage/migration.ts';
import { BookBaseline, BookSums, BookTermsEvents } from './migration.ts';
import { BookResolver, bookWritten } from './page/book.resolver.ts';
import {
  AgentBookResolver,
  BookAgentResolver,
  ReceiptRowResolver,
  resolveBook,
  ViewerResolver,
} from './page/book-links.resolver.ts';
import { BookFeedResolver } from './page/feed.resolver.ts';
import { BookIntentEvidence } from './page/migration.ts';
import { BookRowResolver } from './page/row.resolver.ts';
import { BookSequenceResolver } from './page/sequence.resolver.ts';
import { ShadowPolicies } from './policy/migration.ts';
import { BookPolicyResolver } from './policy/policy.resolver.ts';
import { PolicySimulationResolver } from './policy/simulation/simulation.resolver.ts';
import { AgentRecordResolver } from './record/record.resolver.ts';
import { SliceAssignment } from './slice/assignment.entity.ts';
import { AssignmentResolver } from './slice/assignment.resolver.ts';
import { SliceAssignments } from './slice/migration.ts';
import { BookSliceResolver, sliceWritten } from './slice/slice.resolver.ts';

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
  BookSupersession,
  SliceAssignment,
];
export const bookMigrations = [
  BookBaseline,
  BookSums,
  BookTermsEvents,
  PullExportTable,
  BookSequenceTables,
  BookLineage,
  BookAlerts,
  ShadowPolicies,
  BookIntentEvidence,
  SliceAssignments,
];

const named = (reference: object) => reference;

export function bookSubgraph(): Promise<Subgraph> {
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
  ] as const;
  // An agent and a receipt are known here by their keys alone.
  const references = { Book: resolveBook, Agent: named, Receipt: named };
  return buildSubgraph('book', { resolvers, written: { ...bookWritten, ...sliceWritten } }, references);
}
