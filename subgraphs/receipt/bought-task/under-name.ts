import { type NetworkName, networks } from '../../../schema/network.ts';
import type { Database } from '../../database.ts';
import type { Vault } from '../../vault.ts';
import { identifierSlot } from '../claim/identifier.ts';
import { namedCallMark } from '../claim/key-call/idempotent.ts';
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

/**
 * By which names of offers these tasks were bought, each by its own payment's identifier: from its offer on, that is the context
 * of a task without an intent. One that was bought under an Idempotency-Key has none here: of that there is a mark alone.
 */
export async function offerNames(
  { database }: { readonly database: Database },
  task_ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (task_ids.length === 0) return new Map();
  const named = await database.query<{ task_id: string; identifier: string }>({
    name: 'names of tasks',
    text: 'select task_id, identifier from payment_claim where task_id = any($1) and identifier is not null',
    values: [task_ids],
  });
  return new Map(named.flatMap(({ task_id, identifier }) => (isOfferName(identifier) ? [[task_id, identifier]] : [])));
}

/** How many tasks one name may have come to: a purchase that was canceled can be made anew under it. */
const TRIED_MAX = 100;

/** What an offer became: what its buyer bought of it, and all that was begun under its name, whatever became of it. */
export async function tasksOfOffer(
  context: Parameters<typeof taskUnderName>[0],
  name: string,
  buyer: ProvenBuyer,
): Promise<{ readonly bought: string | null; readonly all: readonly string[] }> {
  const [bought, named] = await Promise.all([
    taskUnderName(context, name, buyer),
    context.database.query<{ task_id: string }>({
      name: 'tasks named',
      text: 'select task_id from payment_claim where identifier = $1 order by moved_at desc limit $2',
      values: [name, TRIED_MAX],
    }),
  ]);
  return { bought, all: [...(bought === null ? [] : [bought]), ...named.map(({ task_id }) => task_id)] };
}
