import { sha256Hex } from '../../../schema/digest.ts';
import { Refusal } from '../../../schema/errors.ts';
import { type AgentId, routerBookId } from '../../../schema/ids.ts';
import type { Principal } from '../../../schema/principal.ts';
import { INGEST_KEY_BYTES, ingestKey } from '../../../schema/router/ingest-key.ts';
import { requireHeld } from '../../access.ts';
import { asEntity, asRecord, newRow, selectList } from '../../columns.ts';
import { takeUse } from '../../counted-use.ts';
import { type Database, insertRows } from '../../database.ts';
import { readsOf } from '../../transaction.ts';
import type { Vault } from '../../vault.ts';
import type { BookContext } from '../context.ts';
import { RouterBook } from './router-book.entity.ts';
import { bookUse } from './uses.ts';

/* Router books: creation, access by key or possession, and the stored key of the router. */

/** Random bytes of an id. */
const ID_BYTES = 10;

type Opener = Pick<BookContext, 'database' | 'clock' | 'random' | 'vault' | 'principal'>;

/** Opens a router book. Its key is only returned here: the service stores a hash of it. @throws rate_limited */
export async function openRouterBook(
  { database, clock, random, vault, principal }: Opener,
  agent_id: AgentId | null,
  label: string | null,
): Promise<{ readonly book: RouterBook; readonly key: string }> {
  const now_ms = clock.now_ms();
  const key = ingestKey(random.bytes(INGEST_KEY_BYTES));
  const book = newRow(RouterBook, {
    bookId: routerBookId(now_ms, random.bytes(ID_BYTES)),
    agentId: agent_id,
    label,
    keyHash: sha256Hex(key),
    openedAt: new Date(now_ms),
  });
  await database.transaction(async tx => {
    const use = bookUse(vault, principal.address);
    const rest = await takeUse(readsOf(tx), 'router_use', use);
    if (rest !== null) throw tooMany(rest, `An address can open at most ${use.max} router books per day.`);
    insertRows(tx, 'router_book', [asRecord(book)]);
  });
  return { book, key };
}

export function tooMany(retry_after_seconds: number, detail: string): Refusal {
  return new Refusal('rate_limited', { detail, facts: { retry_after_seconds } });
}

/**
 * The router book whose ingest key was sent. If `book_id` is not null, it must be that book. @throws unauthenticated, and forbidden
 * both for a wrong key and for an unknown book
 */
export async function requireRouterBook(
  { ingest_key }: Principal,
  database: Pick<Database, 'query'>,
  book_id: string | null = null,
): Promise<RouterBook> {
  if (ingest_key === undefined) throw new Refusal('unauthenticated');
  if (ingest_key.kind !== 'shown') throw new Refusal('forbidden');
  const [found] = await database.query({
    name: 'router book by key',
    text: `select ${selectList(RouterBook)} from router_book where key_hash = $1`,
    values: [ingest_key.token_hash],
  });
  const book = found ? asEntity(RouterBook, found) : null;
  if (book === null || (book_id !== null && book.bookId !== book_id)) throw new Refusal('forbidden');
  return book;
}

/** A router book, if the caller sent its key or possesses the book of its agent. @throws unauthenticated, forbidden */
export async function requireReadableBook(
  principal: Principal,
  database: Pick<Database, 'query'>,
  book_id: string,
): Promise<RouterBook> {
  if (principal.ingest_key !== undefined) return requireRouterBook(principal, database, book_id);
  if (principal.possession.kind === 'absent') throw new Refusal('unauthenticated');
  const [found] = await database.query({
    name: 'router book by id',
    text: `select ${selectList(RouterBook)} from router_book where book_id = $1`,
    values: [book_id],
  });
  const book = found ? asEntity(RouterBook, found) : null;
  if (!book?.agentId) throw new Refusal('forbidden');
  requireHeld(principal, book.agentId);
  return book;
}

const boxLabel = (book_id: string) => `router key ${book_id}`;

/** Stores the key of the router encrypted, in place of an earlier one. Returns the time of the change. */
export async function keepRouterKey(
  { database, vault }: Pick<BookContext, 'database' | 'vault'>,
  { bookId }: RouterBook,
  key: string,
): Promise<Date> {
  const [kept] = await database.query<{ at: Date }>({
    name: 'keep router key',
    text: `update router_book set router_key_box = $2, router_key_set_at = clock_timestamp() where book_id = $1
      returning router_key_set_at as at`,
    values: [bookId, vault.seal(key, boxLabel(bookId))],
  });
  if (!kept) throw new Error(`the router book ${bookId} is gone`);
  return kept.at;
}

export function unsealRouterKey(vault: Pick<Vault, 'open'>, book_id: string, box: Uint8Array): string {
  return vault.open(box, boxLabel(book_id)).toString();
}
