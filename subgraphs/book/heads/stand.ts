import type { AgentId } from '../../../schema/ids.ts';
import { iso } from '../../clock.ts';
import type { Database } from '../../database.ts';
import type { BrokenBook } from '../../receipt/log/broken-books.ts';
import { type CredentialHead, compareEventHeads, type EventHead, type KnownHead } from './compare.ts';

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
  /** Of its newest event; null where that is not there. */
  readonly at: Date | null;
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

/** The heads of all books that have events, page by page in the order of their ids. */
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

/** Which of these sessions and revocations are not there any more: neither is ever deleted. */
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

/** The newest of each kind as the database has them. */
export async function newestCredentials(database: Pick<Database, 'query'>): Promise<readonly CredentialHead[]> {
  const rows = await database.query<Omit<CredentialHead, 'at'> & { readonly at: Date }>({
    text: `(select 'session' as credential, session_hash as hash, issued_at as at from possession order by issued_at desc limit 1)
      union all (select 'revocation', delegation_hash, revoked_at from session_revocation order by seq desc limit 1)`,
  });
  return rows.map(row => ({ ...row, at: iso(row.at.getTime()) }));
}

/** All that is kept outside the database, as the database has it. */
export async function* allHeads(database: Pick<Database, 'query'>): AsyncIterable<readonly KnownHead[]> {
  yield* allBookHeads(database);
  yield await newestCredentials(database);
}
