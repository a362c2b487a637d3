import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { PAGE_LIMIT_BOUNDS, pageRows } from '../../../schema/requests/book.ts';
import type { Database } from '../../database.ts';
import type { BookRow } from '../ledger/row.entity.ts';
import type { BookRowConnection, ConnectionArguments } from './connection.type.ts';
import { rowsOf } from './page.ts';
import { rowScope } from './row-scope.ts';

/** A page of the rows, read with one more than it shows: that says whether there is another. @throws Refusal invalid_request */
export async function connectionOf(
  database: Database,
  agent_id: AgentId,
  asked: ConnectionArguments,
): Promise<BookRowConnection> {
  const { filter } = asked;
  const backwards = typeof asked.last === 'number';
  if (backwards && typeof asked.first === 'number')
    throw refused('last', 'first and last cannot be asked for at once.');
  const size = sizeOf(backwards ? 'last' : 'first', backwards ? asked.last : asked.first);
  // The newest row is the first: what comes after a row in the connection was collected before it.
  const [before, after] = [seqIn('after', asked.after), seqIn('before', asked.before)];
  const found = await rowsOf(
    database,
    rowScope(agent_id, { limit: size + 1, before, after, filter, upwards: backwards }),
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

function sizeOf(param: 'first' | 'last', size: number | null | undefined): number {
  if (typeof size === 'number' && size < 1) throw refused(param, `${param} ${PAGE_LIMIT_BOUNDS}.`);
  return pageRows(size);
}

const CURSOR = /^seq:([0-9]{1,10})$/;
const SEQ_MAX = 2 ** 31 - 1;

const cursorOf = ({ seq }: BookRow) => Buffer.from(`seq:${seq}`).toString('base64url');

/** Null where there is no cursor. */
function seqIn(param: 'after' | 'before', cursor: string | null | undefined): number | null {
  if (typeof cursor !== 'string') return null;
  const seq = Number(CURSOR.exec(Buffer.from(cursor, 'base64url').toString())?.[1] ?? Number.NaN);
  if (!(seq <= SEQ_MAX)) throw refused(param, `${param} is no cursor of a row.`);
  return seq;
}

const refused = (param: string, detail: string) => new Refusal('invalid_request', { param, detail });
