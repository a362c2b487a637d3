import { Arg, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { toSnakeKeys, withoutNull } from '../../../schema/camel.ts';
import { Refusal } from '../../../schema/errors.ts';
import { verifyUrl } from '../../../schema/links.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { BroadcastMembers, RouterBookMembers, RouterKeyMembers } from '../../../schema/requests/router.ts';
import { requireSession } from '../../access.ts';
import type { BookContext } from '../context.ts';
import { keepRouterKey, openRouterBook, requireReadableBook, requireRouterBook } from './books.ts';
import { broadcastGeneration } from './broadcast.ts';
import {
  BroadcastGeneration,
  BroadcastInput,
  KeptRouterKey,
  OpenedRouterBook,
  RouterBookInput,
  RouterBookSummary,
} from './router.type.ts';
import { verifiedSums } from './summary.ts';

/** Router books: opened, given the key of a router, told of generations, and summed up. */
@Resolver()
export class RouterBookResolver {
  @Mutation(() => OpenedRouterBook, {
    nullable: true,
    description:
      "Opens a router book. Where it names an agent, what is broadcast lands on that agent's book too: the session itself is wanted.",
  })
  async openRouterBook(
    @Arg('input', () => RouterBookInput, { description: 'Whose, and by what name.' }) input: RouterBookInput,
    @Ctx() context: BookContext,
  ): Promise<OpenedRouterBook> {
    const asked = parseRequest(RouterBookMembers, toSnakeKeys(withoutNull({ ...input })));
    const { possession } = context.principal;
    if (possession.kind === 'wrong') throw new Refusal('forbidden');
    // Whoever holds its key writes on the agent's book for good: a proof, which passes for minutes, is not enough.
    const held = asked.agent_id === undefined ? null : requireSession(context.principal, asked.agent_id);
    const { book, key } = await openRouterBook(context, held?.agent_id ?? null, asked.label ?? null);
    const { bookId, openedAt } = book;
    return Object.assign(new OpenedRouterBook(), {
      bookId,
      agentId: book.agentId,
      label: book.label,
      ingestKey: key,
      openedAt,
    });
  }

  @Mutation(() => KeptRouterKey, {
    nullable: true,
    description: "Keeps the router's key sealed, in place of one before it. For whoever shows the book's ingest key.",
  })
  async setRouterKey(
    @Arg('bookId', () => String, { description: 'Which router book.' }) bookId: string,
    @Arg('key', () => String, { description: "The router's own; never shown again." }) key: string,
    @Ctx() context: BookContext,
  ): Promise<KeptRouterKey> {
    const book = await requireRouterBook(context.principal, context.database, bookId);
    const members = parseRequest(RouterKeyMembers, { key });
    const setAt = await keepRouterKey(context, book, members.key);
    return { bookId: book.bookId, hasRouterKey: true, setAt };
  }

  @Mutation(() => BroadcastGeneration, {
    nullable: true,
    description:
      "Reports a generation to the router book whose ingest key is shown: one receipt each. The same again is the same; the router is asked under the book's own key.",
  })
  async broadcastGeneration(
    @Arg('input', () => BroadcastInput, { description: 'What is reported.' }) input: BroadcastInput,
    @Ctx() context: BookContext,
  ): Promise<BroadcastGeneration> {
    const book = await requireRouterBook(context.principal, context.database);
    const amount = typeof input.amount === 'bigint' ? String(input.amount) : input.amount;
    const said = parseRequest(BroadcastMembers, toSnakeKeys(withoutNull({ ...input, amount })));
    const { generation, look_up, again } = await broadcastGeneration(context, book, said);
    const { bookId, generationId, taskId, model, rail, paymentRef, verifiedWith, reportedAt } = generation;
    return Object.assign(new BroadcastGeneration(), {
      bookId,
      generationId,
      taskId,
      model,
      rail,
      paymentRef,
      verifiedWith,
      reportedAt,
      amount: generation.amount,
      lookUp: look_up,
      idempotentReplay: again,
      verifyUrl: verifyUrl(context.base_url, taskId),
      receipt: { taskId },
    });
  }

  @Query(() => RouterBookSummary, {
    nullable: true,
    description: "What of a router book is verified. For whoever shows its ingest key, or possesses its agent's book.",
  })
  async routerBookSummary(
    @Arg('bookId', () => String, { description: 'Which router book.' }) bookId: string,
    @Ctx() { principal, database }: BookContext,
  ): Promise<RouterBookSummary> {
    const book = await requireReadableBook(principal, database, bookId);
    const { count, amount, by_rail, truncated } = await verifiedSums(database, book.bookId);
    return Object.assign(new RouterBookSummary(), {
      bookId: book.bookId,
      agentId: book.agentId,
      label: book.label,
      count,
      amount,
      byRail: by_rail,
      byRailTruncated: truncated,
      hasRouterKey: book.routerKeyBox !== null,
    });
  }
}
