import { Arg, Ctx, Int, Resolver, Root, Subscription } from 'type-graphql';
import { requirePossession } from '../../../schema/principal.ts';
import type { BookContext } from '../context.ts';
import { BookEvent } from './event.entity.ts';
import { bookFeed } from './feed.ts';
import { bookHead } from './page.ts';

@Resolver()
export class BookFeedResolver {
  @Subscription(() => BookEvent, {
    description: 'Every event of a book in order of position: first those after `after`, then as they happen.',
    subscribe: ({ args, context }) => follow(args.agentId, args.after ?? null, context as BookContext),
  })
  bookRows(
    @Arg('agentId', () => Int) _agentId: number,
    @Arg('after', () => Int, { nullable: true }) _after: number | null,
    @Root() event: BookEvent,
    @Ctx() _context: BookContext,
  ): BookEvent {
    return event;
  }
}

async function follow(agentId: number, after: number | null, context: BookContext) {
  const agent_id = requirePossession(context.principal, agentId);
  const from = after ?? (await bookHead(context.database, agent_id))?.position ?? 0;
  return bookFeed(context.live, context.readBookEvents, agent_id, from);
}
