import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, Directive, FieldResolver, Info, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { type AtomicAmount, atomicAmount, remainder } from '../../../schema/amount.ts';
import { toCamelKeys } from '../../../schema/camel.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import { PAGE_LIMIT_BOUNDS, pageRows } from '../../../schema/requests/book.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { requireHeld, requirePossession } from '../../access.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { WrittenFields } from '../../written-leaves.ts';
import { budgetEnd, hourOf, lastHour } from '../alerts/rate.ts';
import type { BookContext } from '../context.ts';
import { BookRow } from '../ledger/row.entity.ts';
import { setBudget } from '../policy/set.ts';
import { allowanceOf } from './allowance.ts';
import { type Allowance, Book } from './book.type.ts';
import { connectionOf } from './connection.ts';
import { BookRowConnection, CONNECTION, ConnectionArguments } from './connection.type.ts';
import { isFiltered, type MatchingRows, readMatching } from './matching.ts';
import { type PageHead, pageHead, rowsOf } from './page.ts';
import { BookPageArguments } from './page-arguments.type.ts';
import { rowsOfPage, writeRows } from './row-json.ts';
import { type PageAsked, type RowScope, rowScope } from './row-scope.ts';
import { totalsBy } from './totals.ts';
import { GroupTotal, type TotalsBy, TotalsByWord } from './totals.type.ts';

/** 50 rows when nothing is asked, never more than 200. */
export function pageAsked({ limit, ...asked }: BookPageArguments): PageAsked {
  if (typeof limit === 'number' && limit < 1) {
    throw new Refusal('invalid_request', { param: 'limit', detail: `limit ${PAGE_LIMIT_BOUNDS}.` });
  }
  return { ...asked, limit: pageRows(limit) };
}

/** What the fields of a book are resolved from. */
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
  /** Of all rows that match the filter; read once, and only where it is selected. */
  matching(): Promise<MatchingRows>;
}

/** The fields of a book that Postgres writes, where whoever asked takes them so. */
export const bookWritten: WrittenFields = {
  'Book.entries': (page: BookPage, { database }: BookContext, info) =>
    page.rows ?? writeRows(database, page.scope, info),
  'Book.intentsDocument': ({ intents }: BookPage) => intents,
};

/** `limit` says how many rows there are in `entries`; without it there are fifty. */
export const PAGE = pageByLimit(limits.book_page_rows_default, 'entries', 'intents');
export const PAGE_OF_ROWS = pageByLimit(limits.book_page_rows_default, 'entries');

@Resolver(() => Book)
export class BookResolver {
  @Directive(PAGE)
  @Query(() => Book, {
    nullable: true,
    description: 'A book, for whoever possesses it: by X-SVC-Session, or by X-SVC-Agent and X-SVC-Proof.',
  })
  book(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Args(() => BookPageArguments) asked: BookPageArguments,
    @Ctx() context: BookContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<BookPage> {
    return bookPage(requirePossession(context.principal, agentId), pageAsked(asked), context, info);
  }

  @Directive(PAGE)
  @Mutation(() => Book, { nullable: true, description: 'Sets budget Y, or clears it; the book as it then stands.' })
  async setBudget(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('budgetAtomic', () => AtomicAmountScalar, {
      nullable: true,
      description: 'Atomic USDC; null clears it: unlimited. To leave it out is an error.',
    })
    budgetAtomic: AtomicAmount | null | undefined,
    @Args(() => BookPageArguments) asked: BookPageArguments,
    @Ctx() context: BookContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<BookPage> {
    const held = requireHeld(context.principal, agentId);
    const { agent_id } = held;
    // Left out is not null: what removes a ceiling must be said.
    if (budgetAtomic === undefined)
      throw new Refusal('invalid_request', { param: 'budgetAtomic', detail: 'budgetAtomic is required; null clears.' });
    const shown = pageAsked(asked);
    await setBudget(context.database, agent_id, budgetAtomic, held);
    return bookPage(agent_id, shown, context, info);
  }

  @FieldResolver()
  entries(@Root() { scope }: BookPage, @Ctx() { database }: BookContext): Promise<BookRow[]> {
    return rowsOf(database, scope);
  }

  @FieldResolver()
  intents(@Root() { intents }: BookPage): unknown {
    return Object.values(intents.toJSON() as JsonObject).map(intent => toCamelKeys(intent));
  }

  @FieldResolver()
  intentsDocument(@Root() { intents }: BookPage): unknown {
    return intents.toJSON();
  }

  @FieldResolver(() => BookRow, {
    nullable: true,
    description: 'One row, by its task or by its seq; null where there is none.',
  })
  async row(
    @Root() { agentId }: BookPage,
    @Arg('taskId', () => String, { nullable: true, description: 'The task that it is of.' }) taskId: string | null,
    @Arg('seq', () => Int, { nullable: true, description: 'Its place in the book.' }) seq: number | null,
    @Ctx() { database }: BookContext,
  ): Promise<BookRow | null> {
    if ((taskId ?? seq ?? null) === null)
      throw new Refusal('invalid_request', { param: 'taskId', detail: 'taskId or seq is required.' });
    const [row] = await rowsOf(database, rowScope(agentId, { limit: 1, filter: { taskId, seq } }));
    return row ?? null;
  }

  @CONNECTION
  @FieldResolver(() => BookRowConnection, { description: 'Its rows, newest first, page by page and either way.' })
  rows(
    @Root() { agentId }: BookPage,
    @Args(() => ConnectionArguments) asked: ConnectionArguments,
    @Ctx() { database }: BookContext,
  ): Promise<BookRowConnection> {
    return connectionOf(database, agentId, asked);
  }

  @Directive('@cost(weight: 5)')
  @Directive('@listSize(assumedSize: 100)')
  @FieldResolver(() => [GroupTotal], {
    description:
      'What its rows came to, by each of these by itself: times oldest first, the newest 1,000; all else by amount, the 1,000 with the most.',
  })
  totalsBy(
    @Root() { agentId }: BookPage,
    @Arg('by', () => [TotalsByWord], { description: 'One or several; each is a list of its own within the answer.' })
    by: TotalsBy[],
    @Arg('from', () => DateTimeScalar, { nullable: true, description: 'From this day on (UTC); of HOUR, this hour.' })
    from: Date | null,
    @Arg('to', () => DateTimeScalar, { nullable: true, description: 'Before this day (UTC); of HOUR, this hour.' })
    to: Date | null,
    @Ctx() { database }: BookContext,
  ): Promise<GroupTotal[]> {
    return totalsBy(database, agentId, by, { from, to });
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

/** @throws Refusal forbidden where there is no such book, book_damaged where its audit has closed it */
export async function bookPage(
  agent_id: AgentId,
  asked: PageAsked,
  { database }: BookContext,
  info: GraphQLResolveInfo,
): Promise<BookPage> {
  const scope = rowScope(agent_id, asked);
  const found = await pageHead(database, scope, rowsOfPage(info));
  if (found === null) throw new Refusal('forbidden');
  const { head } = found;
  if (head.damage !== null) throw new Refusal('book_damaged');
  const totals = totalsOf(found);
  return {
    ...found,
    agentId: agent_id,
    limit: asked.limit,
    scope,
    totals,
    totalsCover: 'whole_book',
    matching: matchingOnce(agent_id, asked, { database, all: { count: head.seq, usdc_sum: totals.usdcSum } }),
    window: 'prepaid_ceiling',
    ...found.spending,
    budgetEndsAt: budgetEndsAt(found),
  };
}

/** Without a filter all rows match, and the head has counted them. */
function matchingOnce(
  agent_id: AgentId,
  { filter }: PageAsked,
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

function totalsOf({ head: { byRail }, unseen_atomic }: PageHead): Book['totals'] {
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
