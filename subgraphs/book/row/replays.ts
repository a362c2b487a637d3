import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Database } from '../../database.ts';
import type { BookRow } from './row.entity.ts';

const REPLAYS_MAX = 200;

/** The newest replays of one row as JSON text, oldest first, as the specification shows them. */
export function replaysText(agent_id: string, seq: string): string {
  return `(select coalesce(json_agg(json_build_object(
      'at', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'settlement_status', body->>'settlement_status', 'replay_of', body->>'replay_of') order by position), '[]')::text
    from (select * from book_event where agent_id = ${agent_id} and seq = ${seq} and kind = 'replay'
      order by position desc limit ${REPLAYS_MAX}) newest)`;
}

export async function replaysOf(database: Database, { agentId, seq }: BookRow): Promise<JsonObject[]> {
  const text = `select ${replaysText('$1', '$2')} as replays`;
  const [found] = await database.query<{ replays: string }>({ name: 'replays of row', text, values: [agentId, seq] });
  return JSON.parse(found?.replays ?? '[]') as JsonObject[];
}
