import type { Subgraph } from '../subgraph.ts';
import { buildSubgraph } from '../subgraph.ts';
import { BookAudit } from './audit/migration.ts';
import { BookTables } from './migration.ts';
import { BookPolicyColumns } from './policy/migration.ts';
import { BookPolicyResolver } from './policy/policy.resolver.ts';
import { BookHead } from './row/book.entity.ts';
import { BookResolver, bookWritten } from './row/book.resolver.ts';
import { BookBlockedHour, BookCounted, BookReplayHour } from './row/counted.entity.ts';
import { BookCounts } from './row/counted.migration.ts';
import { BookEvent } from './row/event.entity.ts';
import { BookFeedResolver } from './row/feed.resolver.ts';
import { BookIntent } from './row/intent.entity.ts';
import { BookRow } from './row/row.entity.ts';
import { BookRowResolver } from './row/row.resolver.ts';

export { unwalked } from './audit/audit.ts';
export { auditNewest, auditStep, booksAfter, damagedBooks, reopenBook } from './audit/audit-stored.ts';
export { type BookDamage, bookDamages } from './audit/damage.ts';
export type { BookContext } from './context.ts';
export { correct } from './row/annotate.ts';
export type { RowBirth } from './row/append.ts';
export { type Arrival, arrive } from './row/arrive.ts';
export type { Asking, Reservation } from './row/asking.ts';
export type { BlockedTooOften } from './row/block.ts';
export { BlockedCalls } from './row/blocked-calls.ts';
export { addCounts, appendCounts, type Count, forgetHours } from './row/counted.ts';
export { type Collected, type Collection, collect, openBook } from './row/ledger.ts';
export { openBookEvents } from './row/page.ts';
export { replay } from './row/replay.ts';
export { type Reserved, refusedTooOften, reserve, voidReservations } from './row/reserve.ts';

export const bookEntities = [BookHead, BookRow, BookEvent, BookIntent, BookCounted, BookReplayHour, BookBlockedHour];
export const bookMigrations = [BookTables, BookPolicyColumns, BookCounts, BookAudit];

export function bookSubgraph(): Promise<Subgraph> {
  const resolvers = [BookResolver, BookPolicyResolver, BookRowResolver, BookFeedResolver] as const;
  return buildSubgraph('book', { resolvers, written: bookWritten });
}
