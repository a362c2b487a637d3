import { type FieldNode, Kind } from 'graphql';
import { bookNulls, Row } from '../../rest-compat/book/row.ts';
import { selectionOf } from '../../rest-compat/field-operation.ts';
import type { Json } from '../../schema/canonical-json.ts';
import { agentId } from '../../schema/ids.ts';
import { readRowJson } from '../../subgraphs/book/page/one-row.ts';
import type { Database } from '../../subgraphs/database.ts';

/* A row of a book as `GET /v1/agents/{agent_id}/book` shows it, by the same selection and the same nulls. */

const fieldNodes: readonly FieldNode[] = [
  { kind: Kind.FIELD, name: { kind: Kind.NAME, value: 'entries' }, ...selectionOf(Row, 'BookRow') },
];
const leftOut = { entries: bookNulls.entries, 'entries.replay_events': bookNulls['entries.replay_events'] } as const;

/** As it stands now; null where the event is of no row. */
export async function rowAsShown(
  database: Pick<Database, 'query'>,
  agent_id: number,
  seq: number | null,
): Promise<Json> {
  if (seq === null) return null;
  return readRowJson(database, { agent_id: agentId(agent_id), seq }, { fieldNodes, fragments: {} }, leftOut);
}
