import type { AgentId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';
import type { BrokenBook } from '../../receipt/log/broken-books.ts';
import { compareEventHeads, type EventHead } from './compare.ts';

const HEADS_PER_READ = 1_000;

/** What the database says of heads that were committed. */
export interface StandingBooks {
  /** Those that it does not go on from. */
  readonly broken: readonly BrokenBook[];
  /** The head of each other book as it stands. */
  readonly newest: readonly EventHead[];
}

interface StandingRow {
  readonly agent_id: AgentId;
  readonly position: number | null;
  readonly hash: string | null;
  /** Of the event at the position that is known. */
  readonly stands: string | null;
  readonly damaged: boolean;
}

/**
 * Looks each of these heads up, in batches and under no lock: it stands where the book has that event still. A book that its audit has
 * closed is left out: its operator knows of it, and it concerns no other.
 */
export async function booksThatStand(
  database: Pick<Database, 'query'>,
  heads: readonly EventHead[],
): Promise<StandingBooks> {
  const broken: BrokenBook[] = [];
  const newest: EventHead[] = [];
  for (let from = 0; from < heads.length; from += HEADS_PER_READ) {
    const page = heads.slice(from, from + HEADS_PER_READ);
    const rows = await database.query<StandingRow & { readonly place: number }>({
      name: 'book heads that stand',
      text: `select k.place, k.agent_id, b.position, b.event_hash as hash, e.hash as stands, b.damage is not null as damaged
        from jsonb_to_recordset($1::jsonb) as k(place int, agent_id int, position int)
          left join book b on b.agent_id = k.agent_id
          left join book_event e on e.agent_id = k.agent_id and e.position = k.position`,
      values: [JSON.stringify(page.map(({ agent_id, position }, place) => ({ place, agent_id, position })))],
    });
    for (const { place, agent_id, position, hash, stands, damaged } of rows) {
      const known = page[place] as EventHead;
      if (damaged) continue;
      const found = position === null || hash === null ? null : { position, hash };
      const goes_on = compareEventHeads(known, found) !== 'gone_back' && stands === known.hash;
      if (goes_on && found !== null) newest.push({ agent_id, ...found });
      else broken.push(brokenBook(known, found));
    }
  }
  return { broken, newest };
}

export function brokenBook({ agent_id, position, hash }: EventHead, found: BrokenBook['found']): BrokenBook {
  return { agent_id, known: { position, hash }, found };
}

/** The heads of all books that have events, page by page in the order of their ids. */
export async function* allBookHeads(database: Pick<Database, 'query'>): AsyncIterable<readonly EventHead[]> {
  for (let after = 0; ; ) {
    const heads = await database.query<EventHead & Record<string, unknown>>({
      text: `select agent_id, position, event_hash as hash from book where agent_id > $1 and position > 0
        order by agent_id limit $2`,
      values: [after, HEADS_PER_READ],
    });
    if (heads.length > 0) yield heads;
    if (heads.length < HEADS_PER_READ) return;
    after = heads.at(-1)?.agent_id ?? after;
  }
}
