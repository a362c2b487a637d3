import { Arg, Ctx, Directive, FieldResolver, Int, Query, Resolver, Root } from 'type-graphql';
import { RowCursorMembers } from '../../../schema/requests/book.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { preparedIfFew } from '../../json-sql.ts';
import type { WrittenFields } from '../../written-leaves.ts';
import type { BookContext } from '../context.ts';
import { BookRow } from '../ledger/row.entity.ts';
import { PAGE_OF_ROWS, pageAsked } from '../page/book.resolver.ts';
import { rowsOf } from '../page/page.ts';
import { writeRows } from '../page/row-json.ts';
import type { RowScope } from '../page/row-scope.ts';
import { requireSlice } from './granted.ts';
import { sliceScope } from './scope.ts';
import { BookSlice, shownBounds } from './slice.type.ts';

/** What the fields of a slice are resolved from. */
interface SlicePage extends Omit<BookSlice, 'entries' | 'next'> {
  readonly scope: RowScope;
  /** The same with one row more. */
  readonly further: RowScope;
  readonly limit: number;
}

/** What Postgres writes of a slice, where whoever asked takes it so. */
export const sliceWritten: WrittenFields = {
  'BookSlice.entries': ({ scope }: SlicePage, { database }: BookContext, info) => writeRows(database, scope, info),
};

@Resolver(() => BookSlice)
export class BookSliceResolver {
  @Directive(PAGE_OF_ROWS)
  @Query(() => BookSlice, {
    nullable: true,
    description: 'A slice of a book, for whoever shows its token: `Authorization: Bearer`. It opens nothing else.',
  })
  async bookSlice(
    @Arg('limit', () => Int, {
      nullable: true,
      description: 'Rows: 1 to 200, 50 where it is left out; more is clamped.',
    })
    limit: number | null,
    @Arg('before', () => Int, { nullable: true, description: 'Rows older than the one of this seq.' })
    before: number | null,
    @Ctx() { principal, database }: BookContext,
  ): Promise<SlicePage> {
    const granted = await requireSlice(principal, database);
    const page = pageAsked({ limit });
    const behind = parseRequest(RowCursorMembers.before, before ?? undefined) ?? null;
    const scope = sliceScope(granted, { limit: page.limit, before: behind });
    const further = sliceScope(granted, { limit: page.limit + 1, before: behind });
    const { agent_id, grant_type, slice } = granted;
    return { agentId: agent_id, grantType: grant_type, slice: shownBounds(slice), scope, further, limit: page.limit };
  }

  @FieldResolver()
  entries(@Root() { scope }: SlicePage, @Ctx() { database }: BookContext): Promise<BookRow[]> {
    return rowsOf(database, scope);
  }

  @FieldResolver()
  async next(@Root() { further, limit }: SlicePage, @Ctx() { database }: BookContext): Promise<number | null> {
    const found = await database.query<{ seq: number }>({
      ...preparedIfFew(`select seq from (${further.select}) further order by seq desc`),
      values: [...further.values],
    });
    return found.length > limit ? (found[limit - 1]?.seq ?? null) : null;
  }
}
