import { agentId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';
import type { BrokenBook } from '../../receipt/log/broken-books.ts';
import { auditStateAt } from '../audit/audit.ts';
import { auditStep } from '../audit/audit-database.ts';
import type { BookDamage, BookDamageKind } from '../audit/damage.ts';
import { PART_EVENTS } from '../audit/read-part.ts';
import { isEventHead, type KnownHead } from './compare.ts';
import { booksThatStand, lostCredentials } from './stand.ts';

/** Called for a book that an audit has closed. */
export type DamageListener = (agent_id: number, damage: BookDamage) => void;

/** Kinds of damage to the chain of events or its end. An older state of the book would not show them. */
const of_the_chain: ReadonlySet<BookDamageKind> = new Set([
  'event_missing',
  'event_altered',
  'event_unchained',
  'head_altered',
]);

/**
 * Number of books that suffices to conclude that the database lost events. Further books are not audited, but are counted with
 * these.
 */
const AUDITED_MAX = 20;

/**
 * Returns those of these books that lost committed events. Books that were altered are left out: such a book contradicts itself,
 * and its audit closes only this book. A book that lost events is consistent, but shorter or different.
 */
export async function booksRolledBack(
  database: Database,
  broken: readonly BrokenBook[],
  damaged: DamageListener = () => {},
): Promise<readonly BrokenBook[]> {
  const gone_back: BrokenBook[] = [];
  for (const [index, book] of broken.entries()) {
    if (gone_back.length === AUDITED_MAX) return [...gone_back, ...broken.slice(index)];
    if (await hasGoneBack(database, book, damaged)) gone_back.push(book);
  }
  return gone_back;
}

/**
 * Compares the saved heads with the database. Returns the books that lost events (`gone_back`), the lost credentials, and the
 * current heads of all other books.
 */
export async function compareSavedHeads(database: Database, saved: readonly KnownHead[], damaged?: DamageListener) {
  const { broken, newest } = await booksThatStand(database, saved.filter(isEventHead));
  const gone_back = await booksRolledBack(database, broken, damaged);
  const credentials = saved.flatMap(head => (isEventHead(head) ? [] : [head]));
  const lost = await lostCredentials(database, credentials);
  return { gone_back, lost, newest };
}

async function hasGoneBack(database: Database, { agent_id, known, found }: BrokenBook, damaged: DamageListener) {
  const id = agentId(agent_id);
  const from = Math.min(known.position, found?.position ?? 0) - PART_EVENTS + 1;
  for (let walked = auditStateAt(Math.max(0, from)); ; ) {
    const step = await auditStep(database, id, walked);
    if (step.kind === 'closed') {
      // A book that was closed before was reported by the audit that closed it.
      if (step.newly) damaged(agent_id, step.damage);
      return !of_the_chain.has(step.damage.what);
    }
    if (step.kind === 'gone') return true;
    // The earlier reads may have seen another moment, so the head is compared again.
    if (step.ended) return (await booksThatStand(database, [{ agent_id: id, ...known }])).broken.length > 0;
    walked = step.walked;
  }
}
