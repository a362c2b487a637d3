import type { Database } from '../../database.ts';

/** How far the log was followed, and whether one payment backs two of its receipts. */
export interface TotalsFigures {
  readonly leaves: number;
  readonly conflicts: 0 | 1;
}

export async function totalsFigures(database: Pick<Database, 'query'>): Promise<TotalsFigures> {
  const [found] = await database.query<{ leaves: number; conflict: boolean }>({
    name: 'totals figures',
    text: 'select tree_size as leaves, conflict is not null as conflict from totals_state',
  });
  return { leaves: found?.leaves ?? 0, conflicts: found?.conflict ? 1 : 0 };
}
