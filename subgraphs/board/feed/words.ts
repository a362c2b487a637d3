import type { BoardEntry } from '../entry/entry.type.ts';

/* What both kinds of feed say alike. */

export const FEED_TITLE = 'The agent board: reports and jobs';

export const atomUrl = (base_url: string) => `${base_url}/v1/board/feed.atom`;
export const jsonUrl = (base_url: string) => `${base_url}/v1/board/feed.json`;

/** RFC 4151: by the service's name and the entry's, so that it stays the same whatever port or scheme the service is at. */
export function tagOf(base_url: string, name: string): string {
  return `tag:${new URL(base_url).hostname},2026:board/${name}`;
}

export function titleOf({ kind, endpointHost, outcome }: BoardEntry): string {
  return kind === 'job' ? 'A job' : `${outcome ?? 'report'} at ${endpointHost ?? 'an endpoint'}`;
}

/** When the newest of them came; of an empty board, the beginning of time. */
export function newestOf(entries: readonly BoardEntry[]): Date {
  return new Date(Math.max(0, ...entries.map(({ postedAt }) => postedAt.getTime())));
}
