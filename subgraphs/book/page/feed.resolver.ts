import { Args, Ctx, Directive, Resolver, Root, Subscription } from 'type-graphql';
import type { AgentId } from '../../../schema/ids.ts';
import { FeedRequest } from '../../../schema/requests/book.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { requirePossession } from '../../access.ts';
import { type ArgumentsOfBook, argumentsType, readRequest } from '../../graph-type.ts';
import type { Live } from '../../live.ts';
import { liveFeed, type ReadEvents } from '../../live-feed.ts';
import type { BookContext } from '../context.ts';
import { BookEvent } from '../ledger/event.entity.ts';
import { bookHead } from './page.ts';

const FeedArguments = argumentsType(BookPath, FeedRequest);

@Resolver()
export class BookFeedResolver {
  @Subscription(() => BookEvent, {
    description:
      'Events of a book in order of position: first those after `after`, then new ones as they happen. Without `after`, only new ones. A negative `after` counts back from the newest event: -1 starts with that event. Requires possession of the book. Connect over graphql-ws at /graphql with `{session}`, `{sessions}` or the HTTP headers in connectionParams, or SSE at /graphql/stream with `X-SVC-Session`.',
    subscribe: ({ args, context }) => follow(args, context as BookContext),
  })
  @Directive('@live(after: "after", position: "position")')
  bookRows(
    @Args(() => FeedArguments) _asked: ArgumentsOfBook,
    @Root() event: BookEvent,
    @Ctx() _context: BookContext,
  ): BookEvent {
    return event;
  }
}

async function follow(args: ArgumentsOfBook, context: BookContext) {
  const agent_id = requirePossession(context.principal, args.agentId);
  const { after = null } = readRequest(FeedRequest, args);
  return bookFeed(context.live, context.readBookEvents, agent_id, await startOf(agent_id, after, context));
}

async function startOf(agent_id: AgentId, after: number | null, { database }: BookContext): Promise<number> {
  if (after !== null && after >= 0) return after;
  const newest = (await bookHead(database, agent_id))?.position ?? 0;
  return Math.max(0, newest + (after ?? 0));
}

/** Endless stream of the events of a book after position `after`. See liveFeed. */
export function bookFeed<E extends { readonly position: number }>(
  live: Live,
  readEvents: ReadEvents<number, E>,
  agent_id: number,
  after: number,
): AsyncIterableIterator<E> {
  const watch = (wake: Parameters<Live['watch']>[1]) => live.watch(agent_id, wake);
  return liveFeed({ watch, read: (...args) => readEvents(agent_id, ...args) }, after);
}
