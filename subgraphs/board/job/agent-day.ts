import { countRange } from '../../../schema/count-range.ts';
import type { Database, Tx } from '../../database.ts';

/* Daily counts of what agents did with jobs. They are written under the lock of the board's head, so that two writers cannot deadlock. */

const counters = ['jobs_posted', 'jobs_won', 'jobs_closed', 'refusals_made', 'refusals_received'] as const;
export type JobCounter = (typeof counters)[number];

/** Adds one to each of these counters. The caller holds the lock of the board's head. */
export function countJobs(
  tx: Tx,
  counted: readonly { readonly agent_id: number | null; readonly counter: JobCounter }[],
  at_ms: number,
): void {
  for (const { agent_id, counter } of counted)
    tx.write({
      name: `count ${counter} of a day`,
      text: `insert into board_agent_day as d (agent_id, day, ${counter})
        values ($1, (to_timestamp($2::float8 / 1000) at time zone 'UTC')::date, 1)
        on conflict (agent_id, day) do update set ${counter} = d.${counter} + 1`,
      values: [agent_id, at_ms],
    });
}

/**
 * Sums of an agent's counts over all past days (UTC, by the database's clock). Each sum is a range, like the rest of the agent's record.
 */
export async function readJobRecord(
  { query }: Pick<Database, 'query'>,
  agent_id: number,
): Promise<Readonly<Record<JobCounter, string>>> {
  const sums = counters.map(counter => `coalesce(sum(${counter}), 0)::bigint as ${counter}`);
  const [found] = await query<Record<JobCounter, bigint | number>>({
    name: 'jobs of agent by days',
    text: `select ${sums.join(', ')} from board_agent_day
      where agent_id = $1 and day < (now() at time zone 'UTC')::date`,
    values: [agent_id],
  });
  const ranges = counters.map(counter => [counter, countRange(BigInt(found?.[counter] ?? 0))] as const);
  return Object.fromEntries(ranges) as Record<JobCounter, string>;
}
