import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import { Refusal } from '../../../schema/errors.ts';
import { routerLimits } from '../../../schema/limits.ts';
import { verifyUrl } from '../../../schema/links.ts';
import {
  BroadcastRequest,
  RouterBookPath,
  RouterBookRequest,
  RouterKeyRequest,
} from '../../../schema/requests/router.ts';
import {
  BroadcastGenerationNoun,
  GenerationOnGraph,
  KeptRouterKeyNoun,
  OpenedRouterBookNoun,
  RouterBookSummaryNoun,
  RouterRailSumNoun,
} from '../../../schema/router/book.ts';
import { NOT_SETTLED_HERE } from '../../../schema/router/work-report.ts';
import { requireSession } from '../../access.ts';
import type { Database } from '../../database.ts';
import { type Arguments, argumentsType, givenMembers, inputType, objectType, readRequest } from '../../graph-type.ts';
import type { BookContext } from '../context.ts';
import { keepRouterKey, openRouterBook, requireReadableBook, requireRouterBook } from './books.ts';
import { broadcastGeneration } from './broadcast.ts';

const RouterBookInput = inputType(
  'RouterBookInput',
  'Router book to open: its agent, if any, and its name.',
  RouterBookRequest,
);
const BroadcastInput = inputType(
  'BroadcastInput',
  'Generation of a third-party router to report: its id, model, cost and payment.',
  BroadcastRequest,
);

export const OpenedRouterBook = objectType(
  'OpenedRouterBook',
  'A new router book, with the key that is used to report generations to it.',
  OpenedRouterBookNoun,
);
type OpenedRouterBook = InstanceType<typeof OpenedRouterBook>;
export const KeptRouterKey = objectType(
  'KeptRouterKey',
  'Confirms that the router book keeps the key of its router. The key itself is never shown.',
  KeptRouterKeyNoun,
);
type KeptRouterKey = InstanceType<typeof KeptRouterKey>;

const BroadcastGeneration = objectType(
  'BroadcastGeneration',
  `A generation of a third-party router. ${NOT_SETTLED_HERE}`,
  BroadcastGenerationNoun,
  GenerationOnGraph,
);
type BroadcastGeneration = InstanceType<typeof BroadcastGeneration>;

objectType('RouterRailSum', 'Verified generations of one rail, as the rail was reported.', RouterRailSumNoun);
export const RouterBookSummary = objectType(
  'RouterBookSummary',
  'Sums over the generations of a router book that the router has confirmed.',
  RouterBookSummaryNoun,
);
type RouterBookSummary = InstanceType<typeof RouterBookSummary>;

const KeyArguments = argumentsType(RouterBookPath, RouterKeyRequest);
const BookArguments = argumentsType(RouterBookPath);

/** GraphQL fields of router books. */
@Resolver()
export class RouterBookResolver {
  @Mutation(() => OpenedRouterBook, {
    nullable: true,
    description:
      'Opens a router book. If it names an agent, each reported generation is recorded on the book of that agent as well, and the session of the agent is required (`X-SVC-Session`; a proof is not accepted). Null if there is an error.',
  })
  async openRouterBook(
    @Arg('input', () => RouterBookInput, { description: 'The agent, if any, and the name of the router book.' })
    input: Arguments,
    @Ctx() context: BookContext,
  ): Promise<OpenedRouterBook> {
    const request = readRequest(RouterBookRequest, input, context);
    const { possession } = context.principal;
    if (possession.kind === 'wrong') throw new Refusal('forbidden');
    // The key can add rows to the agent's book permanently, so a proof, which is valid for minutes, does not suffice.
    const held = request.agent_id === undefined ? null : requireSession(context.principal, request.agent_id);
    const { book, key } = await openRouterBook(context, held?.agent_id ?? null, request.label ?? null);
    const { bookId, openedAt } = book;
    const { agentId, label } = book;
    return { bookId, agentId, label, ingestKey: key, openedAt, attestationNote: NOT_SETTLED_HERE };
  }

  @Mutation(() => KeptRouterKey, {
    nullable: true,
    description:
      'Stores the API key of the router, encrypted, in place of an earlier one. Requires the ingest key of the router book (`Authorization: Bearer`). Null if there is an error.',
  })
  async setRouterKey(@Args(() => KeyArguments) args: Arguments, @Ctx() context: BookContext): Promise<KeptRouterKey> {
    const { book_id } = givenMembers(RouterBookPath, args);
    const book = await requireRouterBook(context.principal, context.database, book_id);
    const { key } = readRequest(RouterKeyRequest, args, context);
    const setAt = await keepRouterKey(context, book, key);
    return { bookId: book.bookId, hasRouterKey: true, setAt };
  }

  @Mutation(() => BroadcastGeneration, {
    nullable: true,
    description:
      'Reports a generation to the router book whose ingest key is sent as `Authorization: Bearer`. Each generation gets one receipt; reporting it again returns the same receipt. If the router book stores a key of the router, the router is asked to confirm the generation. Null if there is an error.',
  })
  async broadcastGeneration(
    @Arg('input', () => BroadcastInput, { description: 'The generation, as the caller reports it.' }) input: Arguments,
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
    description:
      'Sums of the verified generations of a router book. Requires the ingest key of the router book (`Authorization: Bearer`), or possession of the book of its agent. Null if there is an error.',
  })
  async routerBookSummary(
    @Args(() => BookArguments) args: Arguments,
    @Ctx() { principal, database }: BookContext,
  ): Promise<RouterBookSummary> {
    const book = await requireReadableBook(principal, database, givenMembers(RouterBookPath, args).book_id);
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

/** Sums of the verified generations of a router book. */
interface VerifiedSums {
  readonly count: number;
  /** Millionths of a dollar. */
  readonly amount: AtomicAmount;
  /** Rails with the most generations. */
  readonly by_rail: readonly { readonly rail: string; readonly count: number; readonly amount: AtomicAmount }[];
  /** True if there are further rails. */
  readonly truncated: boolean;
}

/** Sums of the generations that a lookup has confirmed. */
async function verifiedSums({ query }: Pick<Database, 'query'>, book_id: string): Promise<VerifiedSums> {
  const rails = await query<VerifiedSums['by_rail'][number] & { all_count: number; all_amount: AtomicAmount }>({
    name: 'verified generations by rail',
    text: `select rail, count, amount, (sum(count) over ())::int as all_count, sum(amount) over () as all_amount
      from router_sum where book_id = $1 order by count desc, rail limit $2`,
    values: [book_id, routerLimits.summary_rails_max + 1],
  });
  const [first] = rails;
  return {
    count: first?.all_count ?? 0,
    amount: first?.all_amount ?? (0n as AtomicAmount),
    by_rail: rails.slice(0, routerLimits.summary_rails_max).map(({ rail, count, amount }) => ({ rail, count, amount })),
    truncated: rails.length > routerLimits.summary_rails_max,
  };
}
