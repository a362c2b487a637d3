import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, Directive, FieldResolver, Info, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import { pageRows } from '../../../schema/requests/book.ts';
import { AtomicAmountScalar } from '../../../schema/scalars.ts';
import { requirePossession } from '../../access.ts';
import type { WrittenFields } from '../../subgraph.ts';
import type { BookContext } from '../context.ts';
import type { BookRow } from '../ledger/row.entity.ts';
import { setBudget } from '../policy/set.ts';
import { allowanceOf } from './allowance.ts';
import { type Allowance, Book } from './book.type.ts';
import { newestRows, type PageHead, pageHead } from './page.ts';
import { rowsOfPage, writeNewestRows } from './row-json.ts';

/** 50 when nothing is asked, never more than 200. */
function rowsAsked(limit: number | null | undefined): number {
  if (typeof limit === 'number' && limit < 1) {
    throw new Refusal('invalid_request', { param: 'limit', detail: 'limit is at least 1.' });
  }
  return pageRows(limit);
}

/** What the fields of a book are resolved from. */
interface BookPage extends Omit<Book, 'agentId' | 'entries' | 'intents' | 'allowance'>, PageHead {
  readonly agentId: AgentId;
}

/** The fields of a book that Postgres writes, where whoever asked takes them so. */
export const bookWritten: WrittenFields = {
  'Book.entries': (page: BookPage, { database }: BookContext, info) =>
    page.rows ?? writeNewestRows(database, page, info),
  'Book.intents': ({ intents }: BookPage) => intents,
};

/** `limit` says how many rows there are in `entries`; without it there are fifty. */
const PAGE = `@listSize(assumedSize: ${limits.book_page_rows_default}, slicingArguments: ["limit"], sizedFields: ["entries"], requireOneSlicingArgument: false)`;

@Resolver(() => Book)
export class BookResolver {
  @Directive(PAGE)
  @Query(() => Book, {
    description:
      'The newest rows of a book, for whoever possesses it: by X-SVC-Session, or by X-SVC-Agent and X-SVC-Proof.',
  })
  book(
    @Arg('agentId', () => Int) agentId: number,
    @Arg('limit', () => Int, { nullable: true }) limit: number | null,
    @Ctx() context: BookContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<BookPage> {
    return page(requirePossession(context.principal, agentId), rowsAsked(limit), context, info);
  }

  @Directive(PAGE)
  @Mutation(() => Book, { description: 'Sets budget Y in atomic USDC; null clears it.' })
  async setBudget(
    @Arg('agentId', () => Int) agentId: number,
    @Arg('budgetAtomic', () => AtomicAmountScalar, { nullable: true }) budgetAtomic: AtomicAmount | null,
    @Arg('limit', () => Int, { nullable: true }) limit: number | null,
    @Ctx() context: BookContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<BookPage> {
    const agent_id = requirePossession(context.principal, agentId);
    const rows = rowsAsked(limit);
    await setBudget(context.database, agent_id, budgetAtomic ?? null);
    return page(agent_id, rows, context, info);
  }

  @FieldResolver()
  entries(@Root() { agentId, limit }: BookPage, @Ctx() { database }: BookContext): Promise<BookRow[]> {
    return newestRows(database, agentId, limit);
  }

  @FieldResolver()
  intents(@Root() { intents }: BookPage): unknown {
    return intents.toJSON();
  }

  @FieldResolver()
  allowance(@Root() { head }: BookPage, @Ctx() context: BookContext): Allowance {
    return allowanceOf(head, context);
  }
}

async function page(
  agent_id: AgentId,
  limit: number,
  { database }: BookContext,
  info: GraphQLResolveInfo,
): Promise<BookPage> {
  const found = await pageHead(database, agent_id, limit, rowsOfPage(info));
  if (found === null) throw new Refusal('forbidden');
  const { head } = found;
  if (head.damage !== null) throw new Refusal('book_damaged');
  return {
    ...found,
    agentId: agent_id,
    limit,
    totals: totalsOf(head),
    window: 'prepaid_ceiling',
    cap: head.budgetAtomic,
    spent: head.spentAtomic,
    remaining: head.remainingAtomic,
  };
}

function totalsOf({ byRail }: PageHead['head']): Book['totals'] {
  const rails = Object.values(byRail) as { count: number; amount: string }[];
  const usdc = byRail.usdc as { amount: string } | undefined;
  return {
    count: rails.reduce((count, rail) => count + rail.count, 0),
    usdcSum: atomicAmount(BigInt(usdc?.amount ?? '0')),
    byRail: byRail as JsonObject,
  };
}
