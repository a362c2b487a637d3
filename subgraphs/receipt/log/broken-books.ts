/* Books whose events are not those that were committed: they halt the log as another log would, since all tables went back. */

/** Where a book's chain of events ends or ended. */
interface ChainHead {
  readonly position: number;
  /** Of the event at that position. */
  readonly hash: string;
}

export interface BrokenBook {
  readonly agent_id: number;
  /** As it was committed. */
  readonly known: ChainHead;
  /** As it ends now; null where there is no such book. */
  readonly found: ChainHead | null;
}

/** How many there are, and the first of them. */
export interface BrokenBooks {
  readonly count: number;
  readonly books: readonly BrokenBook[];
}

const NAMED_MAX = 20;

/** Null where there are none. */
export function brokenBooks(broken: readonly BrokenBook[]): BrokenBooks | null {
  if (broken.length === 0) return null;
  const sorted = broken.toSorted((one, other) => one.agent_id - other.agent_id);
  return { count: broken.length, books: sorted.slice(0, NAMED_MAX) };
}

/** Both, each book once. */
export function allBroken(one: BrokenBooks | null, other: BrokenBooks | null): BrokenBooks | null {
  if (one === null || other === null) return one ?? other;
  const named = new Set(one.books.map(({ agent_id }) => agent_id));
  const added = other.books.filter(({ agent_id }) => !named.has(agent_id));
  const both = brokenBooks([...one.books, ...added]);
  return both && { ...both, count: Math.max(both.count, one.count, other.count) };
}

/** What anybody is told: how much happens on a book is its owner's to know. */
export function brokenNames({ count, books }: BrokenBooks): { readonly count: number; readonly agent_ids: number[] } {
  return { count, agent_ids: books.map(({ agent_id }) => agent_id) };
}

export function booksSentence({ count, books }: BrokenBooks): string {
  const named = books.map(({ agent_id, known, found }) => {
    const ends = found === null ? 'is not there' : `ends at position ${found.position}, ${shortOf(found.hash)}`;
    return `book ${agent_id} is known up to position ${known.position}, ${shortOf(known.hash)}, and ${ends}`;
  });
  const more = count > books.length ? `; and ${count - books.length} more` : '';
  const how_many = count === 1 ? '1 book does' : `${count} books do`;
  return `${how_many} not go on from what was committed: ${named.join('; ')}${more}`;
}

const HASH_CHARS = 12;

function shortOf(hash: string): string {
  return hash === '' ? 'without events' : `hash ${hash.slice(0, HASH_CHARS)}`;
}
