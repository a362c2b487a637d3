import type { AgentId } from '../../../schema/ids.ts';
import { iso } from '../../clock.ts';
import type { Database } from '../../database.ts';
import type { BrokenBook } from '../../receipt/log/broken-books.ts';
import { type CredentialHead, compareEventHeads, type EventHead, type KnownHead } from './compare.ts';

const HEADS_PER_READ = 1_000;

/** Result of comparing committed heads with the database. */
export interface StandingBooks {
  /** Books that the database does not continue from their committed heads. */
  readonly broken: readonly BrokenBook[];
  /** Current heads of all other books. */
  readonly newest: readonly EventHead[];
}

interface StandingRow {
  readonly agent_id: AgentId;
  readonly position: number | null;
  readonly hash: string | null;
  /** Time of the newest event of the book. Null if that event is missing. */
  readonly at: Date | null;
  /** Hash of the event at the known position. Null if that event is missing. */
  readonly stands: string | null;
  readonly damaged: boolean;
}

/**
 * Compares each of these heads with the database, in batches and without locks. A head is sound if the book still has its event.
 * Books that their audit closed are skipped, because their damage is already reported and concerns no other book.
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
      text: `select k.place, k.agent_id, b.position, b.event_hash as hash, n.at, e.hash as stands, b.damage is not null as damaged
        from jsonb_to_recordset($1::jsonb) as k(place int, agent_id int, position int)
          left join book b on b.agent_id = k.agent_id
          left join book_event e on e.agent_id = k.agent_id and e.position = k.position
          left join book_event n on n.agent_id = k.agent_id and n.position = b.position`,
      values: [JSON.stringify(page.map(({ agent_id, position }, place) => ({ place, agent_id, position })))],
    });
    for (const { place, agent_id, position, hash, at, stands, damaged } of rows) {
      const known = page[place] as EventHead;
      if (damaged) continue;
      const found = position === null || hash === null ? null : { position, hash };
      const goes_on = compareEventHeads(known, found) !== 'gone_back' && stands === known.hash;
      if (!goes_on) broken.push(brokenBook(known, found));
      else if (found !== null && at !== null) newest.push({ agent_id, ...found, at: iso(at.getTime()) });
    }
  }
  return { broken, newest };
}

export function brokenBook({ agent_id, ...known }: EventHead, found: BrokenBook['found']): BrokenBook {
  return { agent_id, known, found };
}

/** Heads of all books with events, page by page in the order of their ids. */
async function* allBookHeads(database: Pick<Database, 'query'>): AsyncIterable<readonly EventHead[]> {
  for (let after = 0; ; ) {
    const heads = await database.query<Omit<EventHead, 'at'> & { readonly at: Date }>({
      text: `select b.agent_id, b.position, b.event_hash as hash, e.at
        from book b join book_event e on e.agent_id = b.agent_id and e.position = b.position
        where b.agent_id > $1 order by b.agent_id limit $2`,
      values: [after, HEADS_PER_READ],
    });
    if (heads.length > 0) yield heads.map(head => ({ ...head, at: iso(head.at.getTime()) }));
    if (heads.length < HEADS_PER_READ) return;
    after = heads.at(-1)?.agent_id ?? after;
  }
}

/** Returns those of these sessions and revocations that are missing. Neither kind is ever deleted. */
export async function lostCredentials(
  database: Pick<Database, 'query'>,
  heads: readonly CredentialHead[],
): Promise<readonly CredentialHead[]> {
  if (heads.length === 0) return [];
  const lost = await database.query<{ readonly place: number }>({
    name: 'lost credentials',
    text: `select k.place from jsonb_to_recordset($1::jsonb) as k(place int, credential text, hash text)
      where case k.credential
        when 'session' then not exists (select from possession p where p.session_hash = k.hash)
        else not exists (select from session_revocation r where r.delegation_hash = k.hash) end`,
    values: [JSON.stringify(heads.map(({ credential, hash }, place) => ({ place, credential, hash })))],
  });
  return lost.map(({ place }) => heads[place] as CredentialHead);
}

/** The newest credential of each kind in the database. */
export async function newestCredentials(database: Pick<Database, 'query'>): Promise<readonly CredentialHead[]> {
  const rows = await database.query<Omit<CredentialHead, 'at'> & { readonly at: Date }>({
    text: `(select 'session' as credential, session_hash as hash, issued_at as at from possession order by issued_at desc limit 1)
      union all (select 'revocation', delegation_hash, revoked_at from session_revocation order by seq desc limit 1)`,
  });
  return rows.map(row => ({ ...row, at: iso(row.at.getTime()) }));
}

/** Heads of all books and the newest credentials, as they are in the database. */
export async function* allHeads(database: Pick<Database, 'query'>): AsyncIterable<readonly KnownHead[]> {
  yield* allBookHeads(database);
  yield await newestCredentials(database);
}
