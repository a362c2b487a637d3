import type { Subgraph } from '../subgraph.ts';
import { buildSubgraph } from '../subgraph.ts';
import { BookAudit } from './audit/migration.ts';
import { BookHead } from './ledger/book.entity.ts';
import { BookEvent } from './ledger/event.entity.ts';
import { BookBlockedHour, BookCounted, BookReplayHour } from './ledger/happenings.entity.ts';
import { BookCounts } from './ledger/happenings.migration.ts';
import { BookIntent } from './ledger/intent.entity.ts';
import { BookRow } from './ledger/row.entity.ts';
import { BookTables } from './migration.ts';
import { BookResolver, bookWritten } from './page/book.resolver.ts';
import { BookFeedResolver } from './page/feed.resolver.ts';
import { BookRowResolver } from './page/row.resolver.ts';
import { BookPolicyColumns } from './policy/migration.ts';
import { BookPolicyResolver } from './policy/policy.resolver.ts';

export const bookEntities = [BookHead, BookRow, BookEvent, BookIntent, BookCounted, BookReplayHour, BookBlockedHour];
export const bookMigrations = [BookTables, BookPolicyColumns, BookCounts, BookAudit];

export function bookSubgraph(): Promise<Subgraph> {
  const resolvers = [BookResolver, BookPolicyResolver, BookRowResolver, BookFeedResolver] as const;
  return buildSubgraph('book', { resolvers, written: bookWritten });
}
