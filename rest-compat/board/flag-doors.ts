import { z } from 'zod';
import { FlaggedPageNoun } from '../../schema/board/flag.ts';
import { present } from '../../schema/canonical-json.ts';
import { FlagPageMembers } from '../../schema/requests/board.ts';
import { documentDoor } from '../door.ts';
import { digits } from '../text-members.ts';

/** What agents have flagged, for the operators, who alone hide. */
export const flagDoors = [
  documentDoor({
    name: 'list_board_flags',
    tool: { none: 'needs_secret' },
    methods: ['GET'],
    path: '/v1/board/flags',
    summary: 'Flagged posts, comments and jobs for the operators, the most recently flagged first',
    tags: ['board'],
    board_secret: 'ops',
    field: 'boardFlags',
    query: z.strictObject({
      limit: digits(FlagPageMembers.limit.unwrap())
        .optional()
        .describe(FlagPageMembers.limit.description ?? ''),
      cursor: FlagPageMembers.cursor,
    }),
    variables: ({ query }) => present({ ...query }),
    response: FlaggedPageNoun,
  }),
] as const;
