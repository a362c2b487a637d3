import type { Json } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';
import { type NullOmissions, preparedIfFew, writtenText } from '../../json-sql.ts';
import { type FieldSelection, ofPage, rowsText } from './row-json.ts';
import { rowScope } from './row-scope.ts';

/** Reads the selected fields of a row in its current state, as JSON. Null if the book has no such row. */
export async function readRowJson(
  database: Pick<Database, 'query'>,
  { agent_id, seq }: { readonly agent_id: AgentId; readonly seq: number },
  selection: FieldSelection,
  leftOut: NullOmissions,
): Promise<Json> {
  const scope = rowScope(agent_id, { limit: 1, filter: { seq } });
  const key = selection.fieldNodes[0]?.name.value ?? '';
  const text = ofPage(`select ${rowsText(selection, key, leftOut)} as rows`, scope);
  const [found] = await database.query<{ rows: string }>({ ...preparedIfFew(text), values: [...scope.values] });
  const rows = JSON.parse(writtenText(found?.rows ?? '[]').text) as readonly Json[];
  return rows[0] ?? null;
}
