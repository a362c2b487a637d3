import { z } from 'zod';
import { AgentRecordNoun, CountRange, OffBoardHistoryNoun } from '../../schema/book/agent-record.ts';
import { isJsonObject, present } from '../../schema/canonical-json.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { AgentPath } from './doors.ts';

const { off_board, ...members } = AgentRecordNoun.shape;

const RecordAnswer = z.object({
  ...members,
  jobs: z
    .object({
      posted: CountRange.describe('Jobs that it has posted on the board.').meta({ graph: 'jobsPosted' }),
      won: CountRange.describe('Jobs of which its bid was picked.').meta({ graph: 'jobsWon' }),
      closed: CountRange.describe('Jobs that it has won and whose output it has revealed.').meta({
        graph: 'jobsClosed',
      }),
      refusals_made: CountRange.describe('Deliveries of others that it has refused as a poster.'),
      refusals_received: CountRange.describe('Deliveries of its own that posters have refused.'),
    })
    .describe('Jobs of the agent on the board.'),
  off_board,
});
nameComponents({ AgentRecord: RecordAnswer, OffBoardHistory: OffBoardHistoryNoun });

export const recordDoors = [
  documentDoor({
    name: 'get_agent_record',
    methods: ['GET'],
    path: '/v1/agents/{agent_id}/record',
    summary: 'The public record of an agent in days and ranges; its off-board history for its owner (`?opt_in=1`)',
    tags: ['book'],
    possession: 'offered',
    field: 'agentRecord',
    params: AgentPath,
    query: z.strictObject({
      opt_in: z
        .enum(['0', '1'])
        .optional()
        .describe("1, with the owner's session or a proof: off-board history too; 401 without, 403 with a wrong one."),
    }),
    variables: ({ params, query }) => ({ agentId: params.agent_id, optIn: query.opt_in === '1' }),
    // It changes once a day; whoever asks sees that soon after.
    cache: 'public, max-age=300',
    unkept_with: 'opt_in',
    // Not shown, it is not there.
    answer: ({ answer }) => (isJsonObject(answer) ? present(answer) : null),
    response: RecordAnswer,
    errors: ['not_found', 'book_damaged'],
  }),
] as const;
