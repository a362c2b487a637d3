import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Database } from '../../database.ts';
import type { BookRow } from '../ledger/row.entity.ts';

const REPLAYS_MAX = 200;

/**
 * The newest replays of one row as JSON text, oldest first, as the specification shows them; an event that stands for
 * several says how many, and from when on: the last of them was at `at`.
 */
export function replaysText(agent_id: string, seq: string): string {
  return `(select coalesce(json_agg(case when body ? 'count' then
      json_build_object('at', body->>'at', 'first_at', body->>'first_at', 'count', body->'count',
        'settlement_status', body->>'settlement_status', 'replay_of', body->>'replay_of')
      else json_build_object('at', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'settlement_status', body->>'settlement_status', 'replay_of', body->>'replay_of') end order by position), '[]')::text
    from (select * from book_event where agent_id = ${agent_id} and seq = ${seq} and kind = 'replay'
      order by position desc limit ${REPLAYS_MAX}) newest)`;
}

/** Replays of rows of one book that no event tells of yet, by `seq`: their count is true at any moment with these. */
export function replaysCounted(agent_id: string): string {
  return `(select seq, count from book_counted where agent_id = ${agent_id} and kind = 'replay')`;
}

export async function replaysOf(database: Database, { agentId, seq }: BookRow): Promise<JsonObject[]> {
  const text = `select ${replaysText('$1', '$2')} as replays`;
  const [found] = await database.query<{ replays: string }>({ name: 'replays of row', text, values: [agentId, seq] });
  return JSON.parse(found?.replays ?? '[]') as JsonObject[];
}
