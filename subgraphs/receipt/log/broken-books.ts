import { limits } from '../../../schema/limits.ts';

/*
 * Books whose events are not those that were committed. They halt the log as a mismatch of the log itself does, because all tables have
 * then gone back to an older state.
 */

/** Last event of a book's chain of events. */
interface ChainHead {
  readonly position: number;
  /** Hash of the event at that position. */
  readonly hash: string;
}

export interface BrokenBook {
  readonly agent_id: number;
  /** Last event that is known to be committed, and its time (ISO 8601). */
  readonly known: ChainHead & { readonly at: string };
  /** Last event that is stored now. Null if the book does not exist. */
  readonly found: ChainHead | null;
}

/** Number of broken books, and the first of them by agent id. */
export interface BrokenBooks {
  readonly count: number;
  readonly books: readonly BrokenBook[];
  /** Number of known sessions and revocations that are missing, apart from books. Left out if there are none. */
  readonly credentials?: number;
}

/** Sorts the broken books by agent id and names the first of them. Null if nothing is lost. */
export function brokenBooks(broken: readonly BrokenBook[], credentials = 0): BrokenBooks | null {
  if (broken.length === 0 && credentials === 0) return null;
  const sorted = broken.toSorted((one, other) => one.agent_id - other.agent_id);
  return {
    count: broken.length,
    books: sorted.slice(0, limits.broken_books_named_max),
    ...(credentials > 0 && { credentials }),
  };
}

/** Merges two findings, with each book once. */
export function allBroken(one: BrokenBooks | null, other: BrokenBooks | null): BrokenBooks | null {
  if (one === null || other === null) return one ?? other;
  const named = new Set(one.books.map(({ agent_id }) => agent_id));
  const added = other.books.filter(({ agent_id }) => !named.has(agent_id));
  const both = brokenBooks([...one.books, ...added], Math.max(one.credentials ?? 0, other.credentials ?? 0));
  return both && { ...both, count: Math.max(both.count, one.count, other.count) };
}

/** The public part of a finding. It leaves out positions, because only its owner may see how much happens on a book. */
export function brokenNames({ count, books, credentials }: BrokenBooks) {
  return { count, agent_ids: books.map(({ agent_id }) => agent_id), ...(credentials !== undefined && { credentials }) };
}

export function booksSentence({ count, books, credentials = 0 }: BrokenBooks): string {
  const lost = `${credentials} of the newest committed sessions and revocations are missing`;
  if (count === 0) return lost;
  const named = books.map(({ agent_id, known, found }) => {
    const ends = found === null ? 'is missing' : `ends at position ${found.position}, ${shortOf(found.hash)}`;
    return `book ${agent_id} is known up to position ${known.position}, ${shortOf(known.hash)}, and ${ends}`;
  });
  const more = count > books.length ? `; and ${count - books.length} more` : '';
  const how_many = count === 1 ? '1 book does' : `${count} books do`;
  const also = credentials > 0 ? `; ${lost}` : '';
  return `${how_many} not continue from what was committed: ${named.join('; ')}${more}${also}`;
}

const HASH_CHARS = 12;

function shortOf(hash: string): string {
  return hash === '' ? 'without events' : `hash ${hash.slice(0, HASH_CHARS)}`;
}
