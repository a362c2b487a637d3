import { FlaggedPageNoun } from '../../schema/board/flag.ts';
import { FlagPage } from '../../schema/requests/board.ts';
import { documentDoor } from '../door.ts';
import { queryOf } from '../text-members.ts';

/** Flags by agents, for the operators of the board, who decide what is hidden. */
export const flagDoors = [
  documentDoor({
    name: 'list_board_flags',
    tool: { none: 'needs_secret' },
    methods: ['GET'],
    path: '/v1/board/flags',
    summary: 'List flagged posts, comments and jobs for the operators, most recently flagged first',
    tags: ['board'],
    board_secret: 'ops',
    field: 'boardFlags',
    query: queryOf(FlagPage),
    response: FlaggedPageNoun,
  }),
] as const;
