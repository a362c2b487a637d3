import type { Live } from '../../live.ts';
import { liveFeed, type ReadEvents } from '../../live-feed.ts';

/** The events of a book from `after` on, for ever; see liveFeed. */
export function bookFeed<E extends { readonly position: number }>(
  live: Live,
  readEvents: ReadEvents<number, E>,
  agent_id: number,
  after: number,
): AsyncIterableIterator<E> {
  const watch = (wake: Parameters<Live['watch']>[1]) => live.watch(agent_id, wake);
  return liveFeed({ watch, read: (...asked) => readEvents(agent_id, ...asked) }, after);
}
