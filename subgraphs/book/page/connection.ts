import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { pageRows, type RowConnectionRequest } from '../../../schema/requests/book.ts';
import type { Database } from '../../database.ts';
import type { BookRow } from '../ledger/row.entity.ts';
import type { BookRowConnection } from './connection.type.ts';
import { rowsOf } from './page.ts';
import { rowFilter } from './page-arguments.type.ts';
import { rowScope } from './row-scope.ts';

/** A page of the rows, read with one more than it shows: that says whether there is another. @throws Refusal invalid_request */
export async function connectionOf(
  database: Database,
  agent_id: AgentId,
  { first, after: behind, last, before: ahead, filter }: RowConnectionRequest,
): Promise<BookRowConnection> {
  const backwards = last !== undefined;
  if (backwards && first !== undefined) throw refused('last', 'first and last cannot be asked for at once.');
  const size = pageRows(last ?? first);
  // The newest row is the first: what comes after a row in the connection was collected before it.
  const [before, after] = [seqIn('after', behind), seqIn('before', ahead)];
  const found = await rowsOf(
    database,
    rowScope(agent_id, { limit: size + 1, before, after, filter: filter && rowFilter(filter), upwards: backwards }),
  );
  const more = found.length > size;
  const rows = !more ? found : backwards ? found.slice(1) : found.slice(0, size);
  const edges = rows.map(node => ({ cursor: cursorOf(node), node }));
  return {
    edges,
    pageInfo: {
      hasNextPage: backwards ? after !== null : more,
      hasPreviousPage: backwards ? more : before !== null,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

const CURSOR = /^seq:([0-9]{1,10})$/;
const SEQ_MAX = 2 ** 31 - 1;

const cursorOf = ({ seq }: BookRow) => Buffer.from(`seq:${seq}`).toString('base64url');

/** Null where there is no cursor. */
function seqIn(param: 'after' | 'before', cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  const seq = Number(CURSOR.exec(Buffer.from(cursor, 'base64url').toString())?.[1] ?? Number.NaN);
  if (!(seq <= SEQ_MAX)) throw refused(param, `${param} is no cursor of a row.`);
  return seq;
}

const refused = (param: string, detail: string) => new Refusal('invalid_request', { param, detail });
