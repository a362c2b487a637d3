import type { Database } from '../../database.ts';

/** Which of these slots a claim holds, whosever it is. */
export async function takenSlots(
  database: Pick<Database, 'query'>,
  slots: readonly string[],
): Promise<ReadonlySet<string>> {
  const held = await database.query<{ slot: string }>({
    name: 'slots that are held',
    text: 'select slot from claim_slot where slot = any($1)',
    values: [slots],
  });
  return new Set(held.map(({ slot }) => slot));
}
