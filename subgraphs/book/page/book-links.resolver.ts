import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, Directive, FieldResolver, Info, ObjectType, Query, Resolver, Root } from 'type-graphql';
import type { AgentId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import { BookPageRequest } from '../../../schema/requests/book.ts';
import { AgentNoun } from '../../../schema/session/registration.ts';
import { possessedAgents, requirePossession } from '../../access.ts';
import { type Arguments, argumentsType, objectType, withKey } from '../../graph-type.ts';
import type { BookContext } from '../context.ts';
import { BookRow } from '../ledger/row.entity.ts';
import { type BookPage, bookPage, PAGE } from './book.resolver.ts';
import { Book, ReceiptReference } from './book.type.ts';
import { rowsOf, soundHead } from './page.ts';
import { pageQuery } from './page-arguments.type.ts';
import { rowScope } from './row-scope.ts';

/* Links between books and types of other subgraphs: agents, receipts and the caller. */

const AgentReference = withKey(
  objectType(
    'Agent',
    'An agent that has registered its wallet, and that has a book.',
    AgentNoun.pick({ agent_id: true }),
  ),
  'agentId',
);
type AgentReference = InstanceType<typeof AgentReference>;

@ObjectType({ description: 'The caller: the agents whose books the request proves possession of, and these books.' })
export class Viewer {
  readonly possessed: readonly AgentId[] = [];
}

const PageArguments = argumentsType(BookPageRequest);

@Resolver(() => AgentReference)
export class AgentBookResolver {
  @Directive(PAGE)
  @FieldResolver(() => Book, {
    nullable: true,
    description:
      'Book of the agent. Null, with an error, if the caller does not possess the book or if its audit has closed it.',
  })
  book(
    @Root() { agentId }: AgentReference,
    @Args(() => PageArguments) args: Arguments,
    @Ctx() context: BookContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<BookPage> {
    return bookPage(requirePossession(context.principal, agentId), pageQuery(args), context, info);
  }
}

@Resolver(() => Book)
export class BookAgentResolver {
  @FieldResolver(() => AgentReference, { description: 'Agent whose book it is.' })
  agent(@Root() { agentId }: BookPage): AgentReference {
    return { agentId };
  }
}

@Resolver(() => ReceiptReference)
export class ReceiptRowResolver {
  @Directive('@cost(weight: 10)')
  @FieldResolver(() => BookRow, {
    nullable: true,
    description: 'Row of the receipt. Null unless the caller possesses the book that has the row.',
  })
  async row(
    @Root() { taskId }: ReceiptReference,
    @Ctx() { principal, database }: BookContext,
  ): Promise<BookRow | null> {
    for (const agent_id of possessedAgents(principal)) {
      const [row] = await rowsOf(database, rowScope(agent_id, { limit: 1, filter: { taskId } }));
      if (!row) continue;
      await soundHead(database, agent_id);
      return row;
    }
    return null;
  }
}

@Resolver(() => Viewer)
export class ViewerResolver {
  @Query(() => Viewer, { nullable: true, description: 'The caller. Null if the request proves possession of no book.' })
  viewer(@Ctx() { principal }: BookContext): Viewer | null {
    const possessed = possessedAgents(principal);
    return possessed.length === 0 ? null : { possessed };
  }

  @Directive(`@listSize(assumedSize: ${limits.viewer_books_assumed})`)
  @FieldResolver(() => [AgentReference], { description: 'Agents whose sessions or proofs came with the request.' })
  agents(@Root() { possessed }: Viewer): AgentReference[] {
    return possessed.map(agentId => ({ agentId }));
  }

  @Directive(`@listSize(assumedSize: ${limits.viewer_books_assumed})`)
  @FieldResolver(() => [Book], {
    nullable: 'items',
    description: 'Books of these agents, each with its newest rows. A book that an audit has closed is null.',
  })
  books(
    @Root() { possessed }: Viewer,
    @Ctx() context: BookContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<BookPage>[] {
    return possessed.map(agent_id => bookPage(agent_id, pageQuery({}), context, info));
  }
}

/** Resolves a book by its key for federation. It requires possession, like every other access to a book. */
export function resolveBook(
  { agentId }: { readonly agentId: number },
  context: BookContext,
  info: GraphQLResolveInfo,
): Promise<BookPage> {
  return bookPage(requirePossession(context.principal, agentId), pageQuery({}), context, info);
}
