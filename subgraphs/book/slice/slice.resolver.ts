import { Args, Ctx, Directive, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { rowColumns } from '../../../schema/book-row.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { SlicePage } from '../../../schema/requests/assignment.ts';
import { pageRows } from '../../../schema/requests/book.ts';
import type { Slice } from '../../../schema/slice.ts';
import { type Arguments, argumentsType, readRequest } from '../../graph-type.ts';
import { preparedIfFew } from '../../json-sql.ts';
import type { WrittenFields } from '../../written-leaves.ts';
import type { BookContext } from '../context.ts';
import { BookRow } from '../ledger/row.entity.ts';
import { PAGE_OF_ROWS } from '../page/book.resolver.ts';
import { rowsOf } from '../page/page.ts';
import { writeRows } from '../page/row-json.ts';
import { type RowScope, rowScope } from '../page/row-scope.ts';
import { requireSlice } from './grant.ts';
import { BookSlice, shownBounds } from './slice.type.ts';

/** Data from which the fields of a slice are resolved. */
interface SliceInHand extends Omit<BookSlice, 'entries' | 'next'> {
  readonly scope: RowScope;
  /** The same rows and one more, to find out whether there is another page. */
  readonly further: RowScope;
  readonly limit: number;
}

/** Fields of a slice that Postgres writes as JSON text, if the caller accepts text. */
export const sliceWritten: WrittenFields = {
  'BookSlice.entries': ({ scope }: SliceInHand, { database }: BookContext, info) => writeRows(database, scope, info),
};

const PageArguments = argumentsType(SlicePage);

@Resolver(() => BookSlice)
export class BookSliceResolver {
  @Directive(PAGE_OF_ROWS)
  @Query(() => BookSlice, {
    nullable: true,
    description:
      'A slice of a book. Requires its token as `Authorization: Bearer`. The token opens nothing else. Null if there is an error.',
  })
  async bookSlice(
    @Args(() => PageArguments) args: Arguments,
    @Ctx() { principal, database }: BookContext,
  ): Promise<SliceInHand> {
    const granted = await requireSlice(principal, database);
    const { before = null, ...page } = readRequest(SlicePage, args);
    const limit = pageRows(page.limit);
    const scope = sliceScope(granted, { limit, before });
    const further = sliceScope(granted, { limit: limit + 1, before });
    const { agent_id, grant_type, slice } = granted;
    return { agentId: agent_id, grantType: grant_type, slice: shownBounds(slice), scope, further, limit };
  }

  @FieldResolver()
  entries(@Root() { scope }: SliceInHand, @Ctx() { database }: BookContext): Promise<BookRow[]> {
    return rowsOf(database, scope);
  }

  @FieldResolver()
  async next(@Root() { further, limit }: SliceInHand, @Ctx() { database }: BookContext): Promise<number | null> {
    const found = await database.query<{ seq: number }>({
      ...preparedIfFew(`select seq from (${further.select}) further order by seq desc`),
      values: [...further.values],
    });
    return found.length > limit ? (found[limit - 1]?.seq ?? null) : null;
  }
}

/** Members of a refused row that reveal sums and caps of the whole book, and the sentence that contains both. */
const OF_THE_BOOK = ['reason', 'policy_key', 'spent_atomic', 'cap_atomic', 'period_start'] as const;

const FACTS = `case when facts->>'event' = 'policy_blocked' then facts - '{${OF_THE_BOOK.join(',')}}'::text[]
  else facts end as facts`;

/**
 * SQL that replaces hidden columns. The hashes of rows are hidden too. Sums are multiples of a price and caps are round numbers, so a
 * reader could guess them and confirm the guess with the hash of the row or with a later hash of the chain.
 */
const SHOWN: Readonly<Record<string, string>> = {
  facts: FACTS,
  row_hash: `'' as row_hash`,
  prev_row_hash: `'' as prev_row_hash`,
};
const COLUMNS = rowColumns.map(name => SHOWN[name] ?? name).join(', ');

/** A page of the rows of a slice, newest first, as SQL over book_row with its parameters. */
export function sliceScope(
  { agent_id, slice }: { readonly agent_id: AgentId; readonly slice: Slice },
  { limit, before }: { readonly limit: number; readonly before: number | null },
): RowScope {
  const date = (moment: string | null) => (moment === null ? null : new Date(moment));
  const filter = { from: date(slice.from_date), to: date(slice.to_date), taskIds: slice.task_ids };
  if (slice.limit === null) return shown(rowScope(agent_id, { limit, before, filter }));
  // The limit of the slice applies to all pages together.
  const whole = rowScope(agent_id, { limit: slice.limit, filter });
  const values = [...whole.values];
  const older = before === null ? '' : `where seq < $${values.push(before)}`;
  const select = `select * from (${whole.select}) whole ${older} order by seq desc limit $${values.push(limit)}`;
  return shown({ select, values });
}

function shown({ select, values }: RowScope): RowScope {
  return { select: `select ${COLUMNS} from (${select}) row_of_slice`, values };
}
