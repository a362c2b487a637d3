import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Refusal } from '../../../schema/errors.ts';
import { verifyUrl } from '../../../schema/links.ts';
import {
  BroadcastRequest,
  RouterBookPath,
  RouterBookRequest,
  RouterKeyRequest,
} from '../../../schema/requests/router.ts';
import { NOT_SETTLED_HERE } from '../../../schema/router/reported.ts';
import { requireSession } from '../../access.ts';
import { type Arguments, argumentsType, givenMembers, readRequest } from '../../graph-type.ts';
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

const KeyArguments = argumentsType(RouterBookPath, RouterKeyRequest);
const BookArguments = argumentsType(RouterBookPath);

/** Router books: opened, given the key of a router, told of generations, and summed up. */
@Resolver()
export class RouterBookResolver {
  @Mutation(() => OpenedRouterBook, {
    nullable: true,
    description:
      "Opens a router book. Where it names an agent, what is broadcast lands on that agent's book too: the session itself is wanted.",
  })
  async openRouterBook(
    @Arg('input', () => RouterBookInput, { description: 'Whose, and by what name.' }) input: Arguments,
    @Ctx() context: BookContext,
  ): Promise<OpenedRouterBook> {
    const asked = readRequest(RouterBookRequest, input, context);
    const { possession } = context.principal;
    if (possession.kind === 'wrong') throw new Refusal('forbidden');
    // Whoever holds its key writes on the agent's book for good: a proof, which passes for minutes, is not enough.
    const held = asked.agent_id === undefined ? null : requireSession(context.principal, asked.agent_id);
    const { book, key } = await openRouterBook(context, held?.agent_id ?? null, asked.label ?? null);
    const { bookId, openedAt } = book;
    const { agentId, label } = book;
    return { bookId, agentId, label, ingestKey: key, openedAt, attestationNote: NOT_SETTLED_HERE };
  }

  @Mutation(() => KeptRouterKey, {
    nullable: true,
    description: "Keeps the router's key sealed, in place of one before it. For whoever shows the book's ingest key.",
  })
  async setRouterKey(@Args(() => KeyArguments) asked: Arguments, @Ctx() context: BookContext): Promise<KeptRouterKey> {
    const { book_id } = givenMembers(RouterBookPath, asked);
    const book = await requireRouterBook(context.principal, context.database, book_id);
    const { key } = readRequest(RouterKeyRequest, asked, context);
    const setAt = await keepRouterKey(context, book, key);
    return { bookId: book.bookId, hasRouterKey: true, setAt };
  }

  @Mutation(() => BroadcastGeneration, {
    nullable: true,
    description:
      "Reports a generation to the router book whose ingest key is shown: one receipt each. The same again is the same; the router is asked under the book's own key.",
  })
  async broadcastGeneration(
    @Arg('input', () => BroadcastInput, { description: 'What is reported.' }) input: Arguments,
    @Ctx() context: BookContext,
  ): Promise<BroadcastGeneration> {
    const book = await requireRouterBook(context.principal, context.database);
    const said = readRequest(BroadcastRequest, input, context);
    const { generation, look_up, again } = await broadcastGeneration(context, book, said);
    const { bookId, generationId, taskId, model, rail, paymentRef, verifiedWith, reportedAt } = generation;
    return {
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
      attestationNote: NOT_SETTLED_HERE,
      receipt: { taskId },
    };
  }

  @Query(() => RouterBookSummary, {
    nullable: true,
    description: "What of a router book is verified. For whoever shows its ingest key, or possesses its agent's book.",
  })
  async routerBookSummary(
    @Args(() => BookArguments) asked: Arguments,
    @Ctx() { principal, database }: BookContext,
  ): Promise<RouterBookSummary> {
    const book = await requireReadableBook(principal, database, givenMembers(RouterBookPath, asked).book_id);
    const { count, amount, by_rail, truncated } = await verifiedSums(database, book.bookId);
    const { bookId, agentId, label } = book;
    return {
      bookId,
      agentId,
      label,
      count,
      amount,
      byRail: by_rail,
      byRailTruncated: truncated,
      hasRouterKey: book.routerKeyBox !== null,
      attestationNote: NOT_SETTLED_HERE,
    };
  }
}
