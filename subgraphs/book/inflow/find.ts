import type { AgentId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';

/* The inflow, or the correction of one, that a task names on its book. */

/** An inflow, or a correction of one, as far as a correction of it goes on from there. None of it ever changes. */
export interface InflowRow {
  readonly seq: number;
  /** Of the inflow itself. */
  readonly original_seq: number;
  readonly bucket: string;
  /** Atomic USDC, digits. */
  readonly allocation: string;
  readonly model?: string;
  readonly hub?: string;
}

/** Null where no inflow row of that task stands on the book. */
export async function inflowRow(
  database: Pick<Database, 'query'>,
  agent_id: AgentId,
  task_id: string,
): Promise<InflowRow | null> {
  const [found] = await database.query<{ inflow: InflowRow }>({
    name: 'inflow row',
    text: `select jsonb_strip_nulls(jsonb_build_object('seq', r.seq, 'original_seq', coalesce(c.original_seq, r.seq),
        'bucket', r.facts->'bucket', 'allocation', r.facts->'allocation', 'model', r.model, 'hub', r.hub)) as inflow
      from book_row r left join book_correction c using (agent_id, seq)
      where r.agent_id = $1 and r.task_id = $2 and r.evidence = 'inflow_claimed'`,
    values: [agent_id, task_id],
  });
  return found?.inflow ?? null;
}
