import type { Database, Tx } from '../../database.ts';

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

/** The same of one, as a transaction sees it. */
export async function isTaken(tx: Tx, slot: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'is slot held',
    text: 'select from claim_slot where slot = $1',
    values: [slot],
  });
  return rowCount === 1;
}
