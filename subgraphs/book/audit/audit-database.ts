import type { AgentId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import type { Database, Tx } from '../../database.ts';
import { booksOfNewestReceipts } from '../../receipt/receipt/find.ts';
import { readsOf } from '../../transaction.ts';
import { closeBook, lockBook, openBookAgain } from '../ledger/damage.ts';
import { type Audit, type AuditState, auditEvents, auditStateAt } from './audit.ts';
import type { BookDamage } from './damage.ts';
import { auditHead } from './head.ts';
import { PART_EVENTS, type Queryable, type ReadPart, readPart, signedFacts } from './read-part.ts';

/** Result of one step of an audit. `marked` is true if the book was closed before this step. */
export type AuditStep =
  | { readonly kind: 'sound'; readonly walked: AuditState; readonly ended: boolean; readonly marked: boolean }
  /** The damage was confirmed under the lock of the head, so the book is closed in every process. `newly` is true if it was open before. */
  | { readonly kind: 'closed'; readonly damage: BookDamage; readonly newly: boolean }
  /** The book does not exist. */
  | { readonly kind: 'gone' };

/**
 * Audits the next events of a book from one snapshot without locks, and the head after the last event. Apparent damage may be a
 * concurrent change, so the events are audited again under the lock of the head before the book is closed.
 */
export async function auditStep(database: Database, agent_id: AgentId, walked: AuditState): Promise<AuditStep> {
  const part = await database.transaction(async tx => {
    await tx.query('set transaction isolation level repeatable read, read only');
    return readPart(tx, agent_id, walked.position);
  });
  if (part === null) return { kind: 'gone' };
  const audit = await auditPart(database, walked, part);
  if (audit.kind === 'damaged') return close(database, agent_id, walked);
  return { kind: 'sound', walked: audit.walked, ended: part.ended, marked: part.book.damage !== null };
}

/** Reopens a closed book that was sound up to `walked`, if everything added since is sound too. False if it stays closed. */
export async function reopenBook(database: Database, agent_id: AgentId, walked: AuditState): Promise<boolean> {
  return database.transaction(async tx => {
    const part = await lockedPart(tx, agent_id, walked.position);
    if (part === null || !part.ended || (await auditPart(readsOf(tx), walked, part)).kind === 'damaged') return false;
    openBookAgain(tx, agent_id);
    return true;
  });
}

/** Audits the last events of the books that collected most recently, and returns the damage. Bounded, because a start waits for it. */
export async function auditNewest(database: Database): Promise<readonly (BookDamage & { agent_id: AgentId })[]> {
  const books = await database.query<{ agent_id: AgentId; position: number }>({
    text: 'select agent_id, position from book where agent_id = any($1) order by agent_id',
    values: [await booksOfNewestReceipts(database, limits.book_audit_receipts_max_at_start)],
  });
  const found = [];
  for (const { agent_id, position } of books) {
    const step = await auditStep(database, agent_id, auditStateAt(Math.max(0, position - PART_EVENTS + 1)));
    if (step.kind === 'closed') found.push({ agent_id, ...step.damage });
  }
  return found;
}

/** Ids of at most `limit` books after `after`, in ascending order. */
export async function booksAfter(database: Database, after: number, limit: number): Promise<AgentId[]> {
  const books = await database.query<{ agent_id: AgentId }>({
    name: 'books after',
    text: 'select agent_id from book where agent_id > $1 order by agent_id limit $2',
    values: [after, limit],
  });
  return books.map(({ agent_id }) => agent_id);
}

/** Number of closed books. */
export async function damagedBooks(database: Pick<Database, 'query'>): Promise<number> {
  const [found] = await database.query<{ books: number }>({
    name: 'damaged books',
    text: 'select count(*) as books from book where damage is not null',
  });
  return found?.books ?? 0;
}

async function auditPart(database: Queryable, walked: AuditState, part: ReadPart): Promise<Audit> {
  const rows = await signedFacts(database, part.rows);
  const audit = auditEvents(walked, { events: part.events, rows, disputes: part.disputes });
  return audit.kind === 'sound' && part.ended ? auditHead(audit.walked, part.book) : audit;
}

/** Audits again under the lock of the head, and closes the book if the damage is confirmed. */
async function close(database: Database, agent_id: AgentId, walked: AuditState): Promise<AuditStep> {
  return database.transaction(async tx => {
    const part = await lockedPart(tx, agent_id, walked.position);
    if (part === null) return { kind: 'gone' };
    const audit = await auditPart(readsOf(tx), walked, part);
    if (audit.kind === 'sound')
      return { kind: 'sound', walked: audit.walked, ended: part.ended, marked: part.book.damage !== null };
    const damage = { what: audit.what, place: audit.place };
    closeBook(tx, agent_id, damage);
    return { kind: 'closed', damage, newly: part.book.damage === null };
  });
}

async function lockedPart(tx: Tx, agent_id: AgentId, after: number): Promise<ReadPart | null> {
  await lockBook(tx, agent_id);
  return readPart(tx, agent_id, after);
}
