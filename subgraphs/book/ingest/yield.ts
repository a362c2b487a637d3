import { ingestLimits } from '../../../schema/limits.ts';
import type { Clock, Random } from '../../clock.ts';
import type { Database } from '../../database.ts';
import { newTask } from '../../new-task.ts';
import { yieldRows } from '../ledger/yield-row.ts';

const YIELDING = `select task_id, yielded_to from foreign_ingest where yielded_to is not null and yield_row_at is null
  order by recorded_at limit $1 for update skip locked`;

const REASON = 'The same transfer is recorded by another row, whose payer is proven.';

export interface YieldingParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Appends corrections to rows that yield, because the payer of their transfer has recorded it with proof. Each row gets one
 * correction. This runs in a transaction separate from the ingest, because heads are locked in the order of their ids. A call
 * corrects a limited number of rows, and the next call continues. Returns the number of corrections.
 */
export async function correctYielded({ database, clock, random }: YieldingParts): Promise<number> {
  return database.transaction(async tx => {
    const { rows } = await tx.query<{ task_id: string; yielded_to: string }>({
      name: 'yielding ingests',
      text: YIELDING,
      values: [ingestLimits.corrected_per_round_max],
    });
    if (rows.length === 0) return 0;
    const appended = await yieldRows(
      tx,
      rows.map(row => ({ ...row, correction_id: newTask({ clock, random }), reason: REASON })),
    );
    tx.write({
      name: 'ingests that have yielded',
      text: 'update foreign_ingest set yield_row_at = now(), corrected_at = coalesce(corrected_at, now()) where task_id = any($1)',
      values: [rows.map(({ task_id }) => task_id)],
    });
    return appended;
  });
}
