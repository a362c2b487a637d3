import { ingestLimits } from '../../../schema/ingest-limits.ts';
import type { Database } from '../../database.ts';
import { correct } from '../ledger/correct.ts';

const YIELDING = `select task_id, yielded_to from foreign_ingest where yielded_to is not null and corrected_at is null
  order by recorded_at limit $1 for update skip locked`;

/** What the row says of itself from then on. */
const REASON = 'payer_proven_elsewhere';

/**
 * Tells books of rows that yield: somebody has recorded the same transfer and proven to be its payer. A correction, in a
 * transaction of its own, since heads of books are locked in the order of their ids; written once, whoever comes to it. How
 * many those were. Bounded: the next round goes on.
 */
export async function correctYielded(database: Database): Promise<number> {
  return database.transaction(async tx => {
    const { rows } = await tx.query<{ task_id: string; yielded_to: string }>({
      name: 'yielding ingests',
      text: YIELDING,
      values: [ingestLimits.corrected_per_round_max],
    });
    if (rows.length === 0) return 0;
    await correct(
      tx,
      rows.map(({ task_id, yielded_to }) => ({ task_id, body: { reason: REASON, yielded_to } })),
    );
    tx.write({
      name: 'ingests that have yielded',
      text: 'update foreign_ingest set corrected_at = now() where task_id = any($1)',
      values: [rows.map(({ task_id }) => task_id)],
    });
    return rows.length;
  });
}
