import { Args, Ctx, Directive, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { SlicePage } from '../../../schema/requests/assignment.ts';
import { pageRows } from '../../../schema/requests/book.ts';
import { type Arguments, argumentsType, readRequest } from '../../graph-type.ts';
import { preparedIfFew } from '../../json-sql.ts';
import type { WrittenFields } from '../../written-leaves.ts';
import type { BookContext } from '../context.ts';
import { BookRow } from '../ledger/row.entity.ts';
import { PAGE_OF_ROWS } from '../page/book.resolver.ts';
import { rowsOf } from '../page/page.ts';
import { writeRows } from '../page/row-json.ts';
import type { RowScope } from '../page/row-scope.ts';
import { requireSlice } from './granted.ts';
import { sliceScope } from './scope.ts';
import { BookSlice, shownBounds } from './slice.type.ts';

/** What the fields of a slice are resolved from. */
interface SliceInHand extends Omit<BookSlice, 'entries' | 'next'> {
  readonly scope: RowScope;
  /** The same with one row more. */
  readonly further: RowScope;
  readonly limit: number;
}

/** What Postgres writes of a slice, where whoever asked takes it so. */
export const sliceWritten: WrittenFields = {
  'BookSlice.entries': ({ scope }: SliceInHand, { database }: BookContext, info) => writeRows(database, scope, info),
};

const PageArguments = argumentsType(SlicePage);

@Resolver(() => BookSlice)
export class BookSliceResolver {
  @Directive(PAGE_OF_ROWS)
  @Query(() => BookSlice, {
    nullable: true,
    description: 'A slice of a book, for whoever shows its token: `Authorization: Bearer`. It opens nothing else.',
  })
  async bookSlice(
    @Args(() => PageArguments) asked: Arguments,
    @Ctx() { principal, database }: BookContext,
  ): Promise<SliceInHand> {
    const granted = await requireSlice(principal, database);
    const { before = null, ...page } = readRequest(SlicePage, asked);
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
