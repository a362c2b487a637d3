import { routerLimits } from '../../../schema/router/limits.ts';
import type { Database } from '../../database.ts';
import type { Vault } from '../../vault.ts';

/*
 * What nobody pays for is counted, by UTC hours and days of the database's clock: in the database, since one process behind
 * another would let as many pass again.
 */

type Period = 'hour' | 'day';

/** One count: whose, in which period, and how many of it there may be. */
export interface CountedUse {
  readonly holder: string;
  readonly period: Period;
  readonly max: number;
}

/** An address is kept by its mark alone. */
function addressMark(vault: Pick<Vault, 'mark'>, address: string): string {
  return vault.mark(address, 'router address');
}

export function bookUse(vault: Pick<Vault, 'mark'>, address: string): CountedUse {
  const holder = `books:${addressMark(vault, address)}`;
  return { holder, period: 'day', max: routerLimits.books_per_address_day_max };
}

/** What a broadcast that no look-up has found counts against. */
export function unverifiedUses(vault: Pick<Vault, 'mark'>, book_id: string, address: string): readonly CountedUse[] {
  const { unverified_per_book_day_max, unverified_per_address_day_max } = routerLimits;
  return [
    { holder: `unverified:${book_id}`, period: 'day', max: unverified_per_book_day_max },
    {
      holder: `unverified:${addressMark(vault, address)}`,
      period: 'day',
      max: unverified_per_address_day_max,
    },
  ];
}

export function verifiedUses(book_id: string): readonly CountedUse[] {
  return [{ holder: `verified:${book_id}`, period: 'day', max: routerLimits.verified_per_book_day_max }];
}

/** Of the key that a book keeps: look-ups that did not match. */
export function failedLookUp(book_id: string): CountedUse {
  return { holder: `look-up:${book_id}`, period: 'hour', max: routerLimits.failed_look_ups_per_key_hour_max };
}

/** How long the present period lasts. */
export const SECONDS_LEFT = (period: Period) =>
  `ceil(extract(epoch from date_trunc('${period}', clock_timestamp(), 'UTC') + interval '1 ${period}' - clock_timestamp()))::int`;

/** Takes one use; the seconds until there is another where there is none, or else null. Atomic: no two take the last. */
export async function takeUse(
  reads: Pick<Database, 'query'>,
  { holder, period, max }: CountedUse,
): Promise<number | null> {
  const taken = await reads.query({
    name: `take router use of a ${period}`,
    text: `insert into router_use as u (holder, period, uses)
      values ($1, date_trunc('${period}', clock_timestamp(), 'UTC'), 1)
      on conflict (holder, period) do update set uses = u.uses + 1 where u.uses < $2 returning uses`,
    values: [holder, max],
  });
  if (taken.length > 0) return null;
  const [left] = await reads.query<{ seconds: number }>({
    name: `rest of a router ${period}`,
    text: `select ${SECONDS_LEFT(period)} as seconds`,
  });
  return left?.seconds ?? 1;
}

/** One that was taken before it was known to be none. */
export async function giveBackUse(reads: Pick<Database, 'query'>, { holder, period }: CountedUse): Promise<void> {
  await reads.query({
    name: `give back router use of a ${period}`,
    text: `update router_use set uses = uses - 1
      where holder = $1 and period = date_trunc('${period}', clock_timestamp(), 'UTC') and uses > 0`,
    values: [holder],
  });
}

/** A periodic job: counts of periods that are over. */
export async function forgetRouterUses(database: Pick<Database, 'query'>): Promise<void> {
  await database.query({
    name: 'forget router uses',
    text: `delete from router_use where period < now() - make_interval(hours => $1)`,
    values: [routerLimits.uses_kept_hours],
  });
}
