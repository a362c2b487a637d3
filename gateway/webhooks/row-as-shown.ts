import { type FieldNode, type FragmentDefinitionNode, Kind, parse } from 'graphql';
import { bookNulls, rowFragments } from '../../rest-compat/book/row.ts';
import type { Json } from '../../schema/canonical-json.ts';
import { agentId } from '../../schema/ids.ts';
import { readRowJson } from '../../subgraphs/book/page/one-row.ts';
import type { Database } from '../../subgraphs/database.ts';

/* A row of a book as `GET /v1/agents/{agent_id}/book` shows it, by the same fragment and the same nulls. */

const { definitions } = parse(`{ entries { ...BookRowAnswer } } ${rowFragments.BookRowAnswer}`, { noLocation: true });

const fieldNodes = definitions.flatMap(it =>
  it.kind === Kind.OPERATION_DEFINITION ? (it.selectionSet.selections as readonly FieldNode[]) : [],
);
const fragments: Record<string, FragmentDefinitionNode> = Object.fromEntries(
  definitions.flatMap(it => (it.kind === Kind.FRAGMENT_DEFINITION ? [[it.name.value, it]] : [])),
);
const leftOut = { entries: bookNulls.entries, 'entries.replay_events': bookNulls['entries.replay_events'] } as const;

/** As it stands now; null where the event is of no row. */
export async function rowAsShown(
  database: Pick<Database, 'query'>,
  agent_id: number,
  seq: number | null,
): Promise<Json> {
  if (seq === null) return null;
  return readRowJson(database, { agent_id: agentId(agent_id), seq }, { fieldNodes, fragments }, leftOut);
}
