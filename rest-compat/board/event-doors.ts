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

/** Public events of the board. */
export const boardEventDoors = [
  documentDoor({
    name: 'follow_board_events',
    tool: { none: 'comes_in_pieces' },
    methods: ['GET'],
    path: '/v1/board/events',
    summary: 'Follow the events of the board as server-sent events, from a position on',
    tags: ['board'],
    media: 'text/event-stream',
    document: FOLLOW,
    stream: {
      isRequested: () => true,
      live: true,
      document: FOLLOW,
      frames: liveFrames,
      eventOf: data => data.answer ?? null,
    },
    query: z.strictObject({
      after: integerText(Position.min(-INT_MAX - 1))
        .optional()
        .describe(
          'Position of the last event that the client has, from 1; 0 starts with the first event. A negative number counts from the newest: -1 starts with it. Default: only new events.',
        ),
    }),
    headers: z.object({
      'last-event-id': integerText(Position.min(0))
        .optional()
        .describe(
          'The `id` of the last event that the client has. Takes precedence over `after`. Browsers send it when they reconnect.',
        ),
    }),
    variables: ({ query, headers }) => ({ after: headers['last-event-id'] ?? query.after ?? null }),
    response: z.string(),
    event: BoardEventNoun,
  }),
] as const;
