import type { Subgraph } from '../subgraph.ts';
import { buildSubgraph } from '../subgraph.ts';
import { BookTables } from './migration.ts';
import { BookHead } from './row/book.entity.ts';
import { BookResolver } from './row/book.resolver.ts';
import { BookEvent } from './row/event.entity.ts';
import { BookFeedResolver } from './row/feed.resolver.ts';
import { BookIntent } from './row/intent.entity.ts';
import { BookRow } from './row/row.entity.ts';
import { BookRowResolver } from './row/row.resolver.ts';

export type { BookContext } from './context.ts';
export type { RowBirth } from './row/append.ts';
export {
  type Collected,
  type Collection,
  collect,
  correct,
  openBook,
  type Reservation,
  replay,
  reserve,
  voidReservations,
} from './row/ledger.ts';

export { openBookEvents } from './row/page.ts';

export const bookEntities = [BookHead, BookRow, BookEvent, BookIntent];
export const bookMigrations = [BookTables];

export function bookSubgraph(): Promise<Subgraph> {
  return buildSubgraph('book', { resolvers: [BookResolver, BookRowResolver, BookFeedResolver] });
}
