import { type NetworkName, networks } from '../../../schema/network.ts';
import type { Database } from '../../database.ts';
import type { Vault } from '../../vault.ts';
import { identifierSlot } from '../claim/identifier.ts';
import { namedCallMark } from '../claim/key-call/named-call-mark.ts';
import type { ProvenBuyer } from './buyer.ts';

/** As an offered request is named, under which it is bought once. */
export const isOfferName = (name: string): boolean => /^a2a_[0-9a-f]{40}$/.test(name);

/**
 * The task that was bought under a name, by whichever of two it stands there: the payment's own identifier, which is told to
 * anybody who knows it; or an Idempotency-Key, of which only a mark is kept, so that it is found for its payer or its live key
 * alone. Null where there is none, or what was begun has come to nothing.
 */
export async function taskUnderName(
  { database, vault }: { readonly database: Database; readonly vault: Pick<Vault, 'mark'> },
  name: string,
  { wallets, api_key_hash }: ProvenBuyer,
): Promise<string | null> {
  const identifier = vault.mark(name, 'idempotency_key');
  const slots = wallets.flatMap(payer =>
    (Object.keys(networks) as NetworkName[]).map(network =>
      identifierSlot({ network, payer, identifier, by: 'idempotency_key' }),
    ),
  );
  const mark = api_key_hash === null ? null : namedCallMark(vault, api_key_hash, name);
  const [found] = await database.query<{ task_id: string }>({
    name: 'task under name',
    text: `select task_id from (
        select task_id, payer = any($2) as own, moved_at as at from payment_claim where identifier = $1 and state <> 'released'
        union all select task_id, true, moved_at from payment_claim
          where claim_key in (select claim_key from claim_slot where slot = any($3)) and state <> 'released'
        union all select task_id, true, coalesce(recorded_at, begun_at) from idempotent_call where mark = $4) named
      order by own desc, at desc limit 1`,
    values: [name, wallets, slots, mark],
  });
  return found?.task_id ?? null;
}
