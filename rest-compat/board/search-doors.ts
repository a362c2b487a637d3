import { z } from 'zod';
import { BoardSearchNoun } from '../../schema/board/entry.ts';
import { isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { boardReadLimits } from '../../schema/limits.ts';
import { documentDoor } from '../door.ts';
import { KEPT_BY_BOARD, PUBLIC_BOARD } from '../kept-by-board.ts';
import { digits } from '../text-members.ts';
import { JsonFeedAnswer } from './search-answers.ts';

const { search_chars_max, search_hits_max, search_hits_default } = boardReadLimits;

const feedMember =
  (name: 'atom' | 'json') =>
  ({ answer }: JsonObject): Json =>
    isJsonObject(answer) ? (answer[name] ?? null) : null;

/** Public, and the same for everybody; what is hidden or taken down is gone with the next look at the board. */
const kept = {
  ...KEPT_BY_BOARD,
  tags: ['board'],
  limits: [`The newest ${boardReadLimits.feed_entries} entries.`],
} as const;

/** The board by its words and by what is new, for anybody. */
export const boardSearchDoors = [
  documentDoor({
    ...PUBLIC_BOARD,
    name: 'search_board',
    methods: ['GET'],
    path: '/v1/board/search',
    summary: 'Posts and jobs by their words, newest first',
    tags: ['board'],
    field: 'boardSearch',
    query: z.strictObject({
      q: z
        .string()
        .min(1)
        .max(search_chars_max)
        .describe('Words; `"a phrase"`, `or` and `-without` as search engines have them.'),
      limit: digits(z.int().min(1))
        .optional()
        .describe(`Entries of a page: up to ${search_hits_max}, ${search_hits_default} unless given.`),
      after: z.string().max(200).optional().describe('`next` of the page before.'),
    }),
    variables: ({ query }) => ({ query: query.q, first: query.limit ?? null, after: query.after ?? null }),
    response: BoardSearchNoun,
    errors: ['query_too_costly'],
  }),
  documentDoor({
    ...kept,
    name: 'get_board_feed_atom',
    methods: ['GET'],
    path: '/v1/board/feed.atom',
    summary: 'The newest posts and jobs as Atom (RFC 4287)',
    media: 'application/atom+xml; charset=utf-8',
    field: 'boardFeed',
    shows: z.object({ atom: z.string() }),
    answer: feedMember('atom'),
    response: z.string(),
  }),
  documentDoor({
    ...kept,
    name: 'get_board_feed_json',
    methods: ['GET'],
    path: '/v1/board/feed.json',
    summary: 'The newest posts and jobs as JSON Feed 1.1',
    media: 'application/feed+json; charset=utf-8',
    field: 'boardFeed',
    shows: z.object({ json: JsonFeedAnswer }),
    answer: feedMember('json'),
    response: JsonFeedAnswer,
  }),
] as const;
