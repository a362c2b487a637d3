import { rowColumns } from '../../../schema/book-row.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Slice } from '../../../schema/slice.ts';
import { type RowScope, rowScope } from '../page/row-scope.ts';

/** What the row of a refused call says of the whole book: sums, ceilings, and the sentence that names both. */
const OF_THE_BOOK = ['reason', 'policy_key', 'spent_atomic', 'cap_atomic', 'period_start'] as const;

const FACTS = `case when facts->>'event' = 'policy_blocked' then facts - '{${OF_THE_BOOK.join(',')}}'::text[]
  else facts end as facts`;

/**
 * A row's hash covers what is left out of it, and that can be guessed: sums are multiples of a price, ceilings are round. All
 * hashes that follow in the chain would tell a right guess as well, so none is shown.
 */
const SHOWN: Readonly<Record<string, string>> = {
  facts: FACTS,
  row_hash: `'' as row_hash`,
  prev_row_hash: `'' as prev_row_hash`,
};
const COLUMNS = rowColumns.map(name => SHOWN[name] ?? name).join(', ');

/** The rows of a slice, newest first: a page of them as a select over book_row, and its parameters. */
export function sliceScope(
  { agent_id, slice }: { readonly agent_id: AgentId; readonly slice: Slice },
  { limit, before }: { readonly limit: number; readonly before: number | null },
): RowScope {
  const date = (moment: string | null) => (moment === null ? null : new Date(moment));
  const filter = { from: date(slice.from_date), to: date(slice.to_date), taskIds: slice.task_ids };
  if (slice.limit === null) return shown(rowScope(agent_id, { limit, before, filter }));
  // How many rows a slice has is of the slice: to turn its pages brings no more of them.
  const whole = rowScope(agent_id, { limit: slice.limit, filter });
  const values = [...whole.values];
  const older = before === null ? '' : `where seq < $${values.push(before)}`;
  const select = `select * from (${whole.select}) whole ${older} order by seq desc limit $${values.push(limit)}`;
  return shown({ select, values });
}

function shown({ select, values }: RowScope): RowScope {
  return { select: `select ${COLUMNS} from (${select}) row_of_slice`, values };
}
