import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Tx } from '../../database.ts';

/** What nobody pays for, and is kept for ever: how often a book takes it within an hour. */
interface HourRoom {
  /** Of the statement. */
  readonly name: string;
  /** Where each time stands. */
  readonly at: string;
  /** The rows of book $1, by an index whose last column they are ordered by. */
  readonly from: string;
  /** That column: the newest first. */
  readonly newest: string;
  readonly max: number;
  /** What whoever is refused is told. */
  readonly detail: string;
}

/** Under the head's lock, so that no two take the last place; reads no more entries of an index than it allows. @throws rate_limited */
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
