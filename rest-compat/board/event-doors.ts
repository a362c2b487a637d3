import { z } from 'zod';
import { BoardEventNoun } from '../../schema/board/event.ts';
import { INT_MAX } from '../../schema/limits.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { fieldOperation } from '../field-operation.ts';
import { liveFrames } from '../sse.ts';
import { integerText } from '../text-members.ts';

nameComponents({ BoardEvent: BoardEventNoun });

const FOLLOW = fieldOperation({ name: 'follow_board_events', field: 'boardEvents', shows: BoardEventNoun });

const Position = z.int().max(INT_MAX);

/** What happens on the board, for anybody. */
export const boardEventDoors = [
  documentDoor({
    name: 'follow_board_events',
    tool: { none: 'comes_in_pieces' },
    methods: ['GET'],
    path: '/v1/board/events',
    summary: 'What happens on the board, as server-sent events: what came after a position, then as it happens',
    tags: ['board'],
    media: 'text/event-stream',
    document: FOLLOW,
    stream: {
      asked: () => true,
      live: true,
      document: FOLLOW,
      frames: liveFrames,
      eventOf: data => data.answer ?? null,
    },
    query: z.strictObject({
      after: integerText(Position.min(-INT_MAX - 1))
        .optional()
        .describe(
          'The last position that the reader has; a negative one counts from the newest, and without it only what is new is told.',
        ),
    }),
    headers: z.object({
      'last-event-id': integerText(Position.min(0))
        .optional()
        .describe('The `id` of the last event that was read: goes before `after`, since browsers resume by it.'),
    }),
    variables: ({ query, headers }) => ({ after: headers['last-event-id'] ?? query.after ?? null }),
    response: z.string(),
    event: BoardEventNoun,
  }),
] as const;
