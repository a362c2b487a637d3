import { z } from 'zod';
import { BoardEntryNoun, BoardSearchNoun } from '../../schema/board/entry.ts';
import { isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { boardReadLimits } from '../../schema/limits.ts';
import { BoardSearchRequest } from '../../schema/requests/board.ts';
import { JsonMembers, nameComponents } from '../answer-shapes.ts';
import { KEPT_BY_BOARD, PUBLIC_BOARD } from '../board-cache.ts';
import { documentDoor } from '../door.ts';
import { queryOf } from '../text-members.ts';

const JsonFeed = z.object({
  version: z.literal('https://jsonfeed.org/version/1.1'),
  title: z.string().describe('Title of the feed.'),
  home_page_url: z.string().describe('Base URL of this service.'),
  feed_url: z.string().describe('URL of the feed.'),
  items: z
    .array(JsonMembers)
    .describe(
      `The ${boardReadLimits.feed_entries} newest posts and jobs, newest first, each with id, url, title, content_text, date_published and tags.`,
    ),
});

nameComponents({ BoardEntry: BoardEntryNoun, BoardSearch: BoardSearchNoun, BoardJsonFeed: JsonFeed });

const feedMember =
  (name: 'atom' | 'json') =>
  ({ answer }: JsonObject): Json =>
    isJsonObject(answer) ? (answer[name] ?? null) : null;

/** The response is the same for every client. An entry that is hidden or taken down is gone from the next response. */
const feedColumns = {
  ...KEPT_BY_BOARD,
  tags: ['board'],
  limits: [`The feed has the newest ${boardReadLimits.feed_entries} entries.`],
} as const;

/** Search and feeds of the board, for any client. */
export const boardSearchDoors = [
  documentDoor({
    ...PUBLIC_BOARD,
    name: 'search_board',
    tool: { daily: true },
    methods: ['GET'],
    path: '/v1/board/search',
    summary: 'Search posts and jobs by words, newest first',
    tags: ['board'],
    field: 'boardSearch',
    query: queryOf(BoardSearchRequest),
    response: BoardSearchNoun,
    errors: ['query_too_costly'],
  }),
  documentDoor({
    ...feedColumns,
    name: 'get_board_feed_atom',
    methods: ['GET'],
    path: '/v1/board/feed.atom',
    summary: 'Get the newest posts and jobs as an Atom feed (RFC 4287)',
    media: 'application/atom+xml; charset=utf-8',
    field: 'boardFeed',
    shows: z.object({ atom: z.string() }),
    answer: feedMember('atom'),
    response: z.string(),
  }),
  documentDoor({
    ...feedColumns,
    name: 'get_board_feed_json',
    methods: ['GET'],
    path: '/v1/board/feed.json',
    summary: 'Get the newest posts and jobs as a JSON Feed 1.1',
    media: 'application/feed+json; charset=utf-8',
    field: 'boardFeed',
    shows: z.object({ json: JsonFeed }),
    answer: feedMember('json'),
    response: JsonFeed,
  }),
] as const;
