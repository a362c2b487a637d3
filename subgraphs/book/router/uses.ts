import { routerLimits } from '../../../schema/limits.ts';
import type { CountedUse } from '../../counted-use.ts';
import type { Database } from '../../database.ts';
import type { Vault } from '../../vault.ts';

/** Keyed hash of an address. The address itself is not stored. */
function addressMark(vault: Pick<Vault, 'mark'>, address: string): string {
  return vault.mark(address, 'router address');
}

export function bookUse(vault: Pick<Vault, 'mark'>, address: string): CountedUse {
  const holder = `books:${addressMark(vault, address)}`;
  return { holder, period: 'day', max: routerLimits.books_per_address_day_max };
}

/** Limits of a report that no lookup has confirmed. */
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

/** Limit of unsuccessful lookups with the key of a book. */
export function failedLookUp(book_id: string): CountedUse {
  return { holder: `look-up:${book_id}`, period: 'hour', max: routerLimits.failed_look_ups_per_key_hour_max };
}

/** Subtracts a use that was counted in advance. */
export async function giveBackUse(reads: Pick<Database, 'query'>, { holder, period }: CountedUse): Promise<void> {
  await reads.query({
    name: `give back router use of a ${period}`,
    text: `update router_use set uses = uses - 1
      where holder = $1 and period = date_trunc('${period}', clock_timestamp(), 'UTC') and uses > 0`,
    values: [holder],
  });
}
