import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Tx } from '../../database.ts';

/** Hourly limit of a book for records that are free and kept permanently. */
interface HourRoom {
  /** Name of the SQL statement. */
  readonly name: string;
  /** Column with the time of a row. */
  readonly at: string;
  /** SQL for the rows of book $1. An index must end with the column in `newest`, so that few entries are read. */
  readonly from: string;
  /** Column by which the rows are sorted, newest first. */
  readonly newest: string;
  readonly max: number;
  /** Message of the refusal. */
  readonly detail: string;
}

/**
 * Requires that the book has fewer than `max` such rows in the last hour. Must be called under the head's lock, so that concurrent
 * requests cannot exceed the limit. Reads at most `max` index entries.
 * @throws Refusal rate_limited
 */
export async function requireHourRoom(
  tx: Tx,
  agent_id: AgentId,
  { name, at, from, newest, max, detail }: HourRoom,
): Promise<void> {
  const { rows } = await tx.query<{ seconds: number }>({
    name,
    text: `select ceil(extract(epoch from ${at} + interval '1 hour' - clock_timestamp()))::int as seconds
      from ${from} order by ${newest} desc offset $2 limit 1`,
    values: [agent_id, max - 1],
  });
  const retry_after_seconds = rows[0]?.seconds ?? 0;
  if (retry_after_seconds > 0) throw new Refusal('rate_limited', { detail, facts: { retry_after_seconds } });
}
