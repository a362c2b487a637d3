import { Arg, Ctx, Int, Mutation, Query, Resolver } from 'type-graphql';
import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { requirePossession, requireWriter } from '../../../schema/principal.ts';
import { pageRows } from '../../../schema/requests/book.ts';
import { AtomicAmountScalar } from '../../../schema/scalars.ts';
import { iso } from '../../clock.ts';
import type { BookContext } from '../context.ts';
import type { BookHead } from './book.entity.ts';
import { type Allowance, Book } from './book.type.ts';
import { setBudget } from './budget.ts';
import { bookHead, intentsOf, newestRows } from './page.ts';

/** 50 when nothing is asked, never more than 200. */
function rowsAsked(limit: number | null | undefined): number {
  if (typeof limit === 'number' && limit < 1) {
    throw new Refusal('invalid_request', { param: 'limit', detail: 'limit is at least 1.' });
  }
  return pageRows(limit);
}

@Resolver(() => Book)
export class BookResolver {
  @Query(() => Book, { description: 'The newest rows of a book, for whoever possesses it.' })
  book(
    @Arg('agentId', () => Int) agentId: number,
    @Arg('limit', () => Int, { nullable: true }) limit: number | null,
    @Ctx() context: BookContext,
  ): Promise<Book> {
    return page(requirePossession(context.principal, agentId), rowsAsked(limit), context);
  }

  @Mutation(() => Book, { description: 'Sets budget Y in atomic USDC; null clears it.' })
  async setBudget(
    @Arg('agentId', () => Int) agentId: number,
    @Arg('budgetAtomic', () => AtomicAmountScalar, { nullable: true }) budgetAtomic: AtomicAmount | null,
    @Arg('limit', () => Int, { nullable: true }) limit: number | null,
    @Ctx() context: BookContext,
  ): Promise<Book> {
    const agent_id = requireWriter(context.principal, agentId);
    const rows = rowsAsked(limit);
    await setBudget(context.database, agent_id, budgetAtomic ?? null);
    return page(agent_id, rows, context);
  }
}

async function page(agent_id: AgentId, limit: number, context: BookContext): Promise<Book> {
  const [head, entries] = await Promise.all([
    bookHead(context.database, agent_id),
    newestRows(context.database, agent_id, limit),
  ]);
  if (head === null) throw new Refusal('forbidden');
  return {
    agentId: agent_id,
    limit,
    entries,
    intents: await intentsOf(context.database, agent_id, entries),
    totals: totalsOf(head),
    window: 'prepaid_ceiling',
    cap: head.budgetAtomic,
    spent: head.spentAtomic,
    remaining: head.remainingAtomic,
    allowance: allowanceOf(head, context),
  };
}

function totalsOf({ byRail }: BookHead): Book['totals'] {
  const rails = Object.values(byRail) as { count: number; amount: string }[];
  const usdc = byRail.usdc as { amount: string } | undefined;
  return {
    count: rails.reduce((count, rail) => count + rail.count, 0),
    usdcSum: atomicAmount(BigInt(usdc?.amount ?? '0')),
    byRail: byRail as JsonObject,
  };
}

function allowanceOf(head: BookHead, { issuer, clock }: BookContext): Allowance {
  const as_of = iso(clock.now_ms());
  const remaining = head.remainingAtomic;
  const { alg, value } = issuer.signAllowance({
    agent_id: head.agentId,
    remaining: remaining === null ? null : remaining.toString(),
    as_of,
  });
  return { agentId: head.agentId, remaining, asOf: new Date(as_of), signature: { alg, value } };
}
