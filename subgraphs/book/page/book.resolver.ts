import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, Directive, FieldResolver, Info, Mutation, Query, Resolver, Root } from 'type-graphql';
import { type AtomicAmount, atomicAmount, parseAtomic, remainder } from '../../../schema/amount.ts';
import { IntentSummaryNoun } from '../../../schema/book/book-page.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { INT_MAX, limits } from '../../../schema/limits.ts';
import type { DocumentOf } from '../../../schema/noun.ts';
import {
  BookPageRequest,
  BudgetRequest,
  pageRows,
  RowConnectionRequest,
  RowRequest,
  TotalsByRequest,
} from '../../../schema/requests/book.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { requireHeld, requirePossession } from '../../access.ts';
import type { Database } from '../../database.ts';
import {
  type Arguments,
  type ArgumentsOfBook,
  argumentsType,
  givenMembers,
  readRequest,
  shownOf,
} from '../../graph-type.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { WrittenFields } from '../../written-leaves.ts';
import { budgetEnd, hourOf, lastHour } from '../alerts/rate.ts';
import type { BookContext } from '../context.ts';
import { BookRow } from '../ledger/row.entity.ts';
import { setBudget } from '../policy/set.ts';
import { allowanceOf } from './allowance.ts';
import { type Allowance, Book, BookRowConnection, type BookTotals, CONNECTION, GroupTotal } from './book.type.ts';
import { isFiltered, type MatchingRows, readMatching } from './matching.ts';
import { type PageHead, pageHead, rowsOf } from './page.ts';
import { pageQuery, rowFilter } from './page-arguments.type.ts';
import { rowsOfPage, writeRows } from './row-json.ts';
import { type PageQuery, type RowScope, rowScope } from './row-scope.ts';
import { totalsBy } from './totals.ts';

/** Data from which the fields of a book are resolved. */
export interface BookPage
  extends Omit<
      Book,
      | 'agentId'
      | 'entries'
      | 'intents'
      | 'intentsDocument'
      | 'allowance'
      | 'alerts'
      | 'matchingCount'
      | 'matchingUsdcSum'
    >,
    PageHead {
  readonly agentId: AgentId;
  readonly scope: RowScope;
  /** Reads count and sum of the matching rows, once and only if they are selected. */
  matching(): Promise<MatchingRows>;
}

/** Fields of a book that Postgres writes as JSON text, for callers that pass the text on unparsed. */
export const bookWritten: WrittenFields = {
  'Book.entries': (page: BookPage, { database }: BookContext, info) =>
    page.rows ?? writeRows(database, page.scope, info),
  'Book.intentsDocument': ({ intents }: BookPage) => intents,
};

/** Cost of a page: `limit` is the number of rows in `entries`, 50 by default. */
export const PAGE = pageByLimit(limits.book_page_rows_default, 'entries', 'intents');
export const PAGE_OF_ROWS = pageByLimit(limits.book_page_rows_default, 'entries');

const PageArguments = argumentsType(BookPath, BookPageRequest);
const BudgetArguments = argumentsType(BookPath, BudgetRequest, BookPageRequest);
const RowArguments = argumentsType(RowRequest);
const RowsArguments = argumentsType(RowConnectionRequest);
const TotalsArguments = argumentsType(TotalsByRequest);

@Resolver(() => Book)
export class BookResolver {
  @Directive(PAGE)
  @Query(() => Book, {
    nullable: true,
    description:
      'A book. Requires possession of the book: `X-SVC-Session`, or `X-SVC-Agent` with `X-SVC-Proof`. Null if there is an error.',
  })
  book(
    @Args(() => PageArguments) args: ArgumentsOfBook,
    @Ctx() context: BookContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<BookPage> {
    return bookPage(requirePossession(context.principal, args.agentId), pageQuery(args), context, info);
  }

  @Directive(PAGE)
  @Mutation(() => Book, {
    nullable: true,
    description:
      'Sets or clears the budget of a book. Returns the book with the new budget. Requires possession of the book. Null if there is an error.',
  })
  async setBudget(
    @Args(() => BudgetArguments) args: ArgumentsOfBook,
    @Ctx() context: BookContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<BookPage> {
    const held = requireHeld(context.principal, args.agentId);
    const { agent_id } = held;
    const { budget } = readRequest(BudgetRequest, args);
    // An absent budget is not the same as null, because removing a limit must be explicit.
    if (budget === undefined)
      throw new Refusal('invalid_request', {
        param: 'budgetAtomic',
        detail: 'budgetAtomic is required; null removes the budget.',
      });
    const shown = pageQuery(args);
    await setBudget(context.database, agent_id, budget === null ? null : parseAtomic(budget), held);
    return bookPage(agent_id, shown, context, info);
  }

  @FieldResolver()
  entries(@Root() { scope }: BookPage, @Ctx() { database }: BookContext): Promise<BookRow[]> {
    return rowsOf(database, scope);
  }

  @FieldResolver()
  intents(@Root() { intents }: BookPage): unknown {
    const summaries = intents.toJSON() as Readonly<Record<string, DocumentOf<typeof IntentSummaryNoun>>>;
    return Object.values(summaries).map(intent => shownOf(IntentSummaryNoun, intent));
  }

  @FieldResolver()
  intentsDocument(@Root() { intents }: BookPage): unknown {
    return intents.toJSON();
  }

  @FieldResolver(() => BookRow, {
    nullable: true,
    description: 'One row of the book, by task id or by seq. Null if there is none.',
  })
  async row(
    @Root() { agentId }: BookPage,
    @Args(() => RowArguments) args: Arguments,
    @Ctx() { database }: BookContext,
  ): Promise<BookRow | null> {
    const { task_id: taskId = null, seq = null } = givenMembers(RowRequest, args);
    if (taskId === null && seq === null)
      throw new Refusal('invalid_request', { param: 'taskId', detail: 'taskId or seq is required.' });
    const [row] = await rowsOf(database, rowScope(agentId, { limit: 1, filter: { taskId, seq } }));
    return row ?? null;
  }

  @CONNECTION
  @FieldResolver(() => BookRowConnection, {
    description: 'Rows of the book, newest first, as pages in both directions.',
  })
  rows(
    @Root() { agentId }: BookPage,
    @Args(() => RowsArguments) args: Arguments,
    @Ctx() { database }: BookContext,
  ): Promise<BookRowConnection> {
    return connectionOf(database, agentId, readRequest(RowConnectionRequest, args));
  }

  @Directive('@cost(weight: 5)')
  @Directive('@listSize(assumedSize: 100)')
  @FieldResolver(() => [GroupTotal], {
    description: `Sums over the rows of the book, for each of the groupings by itself. Hours and days: the newest ${limits.totals_groups_max}, oldest first. Other groupings: the ${limits.totals_groups_max} with the largest amounts.`,
  })
  totalsBy(
    @Root() { agentId }: BookPage,
    @Args(() => TotalsArguments) args: Arguments,
    @Ctx() { database }: BookContext,
  ): Promise<GroupTotal[]> {
    const { by, from, to } = readRequest(TotalsByRequest, args);
    return totalsBy(database, agentId, by, { from: from ? new Date(from) : null, to: to ? new Date(to) : null });
  }

  @FieldResolver()
  async matchingCount(@Root() page: BookPage): Promise<number | null> {
    return (await page.matching()).count;
  }

  @FieldResolver()
  async matchingUsdcSum(@Root() page: BookPage): Promise<AtomicAmount | null> {
    return (await page.matching()).usdc_sum;
  }

  @FieldResolver()
  allowance(@Root() page: BookPage, @Ctx() context: BookContext): Allowance {
    return allowanceOf(page, context);
  }
}

/**
 * Reads a page of a book.
 * @throws Refusal forbidden if the book does not exist, book_damaged if the audit has closed it
 */
export async function bookPage(
  agent_id: AgentId,
  query: PageQuery,
  { database }: BookContext,
  info: GraphQLResolveInfo,
): Promise<BookPage> {
  const scope = rowScope(agent_id, query);
  const found = await pageHead(database, scope, rowsOfPage(info));
  if (found === null) throw new Refusal('forbidden');
  const { head } = found;
  if (head.damage !== null) throw new Refusal('book_damaged');
  const totals = totalsOf(found);
  return {
    ...found,
    agentId: agent_id,
    limit: query.limit,
    scope,
    totals,
    totalsCover: 'whole_book',
    matching: matchingOnce(agent_id, query, { database, all: { count: head.seq, usdc_sum: totals.usdcSum } }),
    window: 'prepaid_ceiling',
    ...found.spending,
    budgetEndsAt: budgetEndsAt(found),
  };
}

/** Without a filter all rows match, and the head already has their count and sum. */
function matchingOnce(
  agent_id: AgentId,
  { filter }: PageQuery,
  { database, all }: { readonly database: BookContext['database']; readonly all: MatchingRows },
): BookPage['matching'] {
  let read: Promise<MatchingRows> | null = null;
  return () => {
    read ??= isFiltered(filter) ? readMatching(database, agent_id, filter) : Promise.resolve(all);
    return read;
  };
}

function budgetEndsAt({ head, now_ms }: PageHead): Date | null {
  const { budgetAtomic, spentAtomic, hourStart, hourAtomic, alertState } = head;
  if (budgetAtomic === null) return null;
  const hour = { start_ms: hourStart?.getTime() ?? null, atomic: hourAtomic };
  const ends_ms = budgetEnd(
    lastHour({ hour, alert_state: alertState }, now_ms),
    remainder(budgetAtomic, spentAtomic),
    now_ms,
  );
  return ends_ms === null ? null : new Date(hourOf(ends_ms));
}

function totalsOf({ head: { byRail }, unseen_atomic }: PageHead): BookTotals {
  const rails = Object.entries(byRail as Record<string, { readonly count: number; readonly amount: string }>).map(
    ([rail, { count, amount }]) => ({ rail, count, amount: atomicAmount(BigInt(amount)) }),
  );
  return {
    count: rails.reduce((total, { count }) => total + count, 0),
    usdcSum: rails.find(({ rail }) => rail === 'usdc')?.amount ?? atomicAmount(0n),
    pendingUsdcSum: unseen_atomic,
    byRail: rails,
    byRailDocument: byRail,
  };
}

/**
 * Reads a page of rows. One row more than the page is read, to find out whether there is another page.
 * @throws Refusal invalid_request
 */
export async function connectionOf(
  database: Database,
  agent_id: AgentId,
  { first, after: behind, last, before: ahead, filter }: RowConnectionRequest,
): Promise<BookRowConnection> {
  const backwards = last !== undefined;
  if (backwards && first !== undefined) throw refused('last', 'Send either first or last, not both.');
  const size = pageRows(last ?? first);
  // The newest row is first, so rows after a cursor are older.
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

const cursorOf = ({ seq }: BookRow) => Buffer.from(`seq:${seq}`).toString('base64url');

/**
 * Seq that a cursor contains. Null if there is no cursor.
 * @throws Refusal invalid_request
 */
function seqIn(param: 'after' | 'before', cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  const seq = Number(CURSOR.exec(Buffer.from(cursor, 'base64url').toString())?.[1] ?? Number.NaN);
  if (!(seq <= INT_MAX)) throw refused(param, `${param} is not a cursor of a row.`);
  return seq;
}

const refused = (param: string, detail: string) => new Refusal('invalid_request', { param, detail });
