import { z } from 'zod';
import { isJsonObject, present } from '../../schema/canonical-json.ts';
import { COUNT_RANGE } from '../../schema/count-range.ts';
import { evidences } from '../../schema/evidence.ts';
import { wordList } from '../../schema/words.ts';
import { Atomic, nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { AgentPath } from './doors.ts';

const Range = z.string().regex(COUNT_RANGE).describe('`0`, `1-9`, `10-99`, `100-999` and so on.');
const Day = z.iso.date();

const OffBoard = z.object({
  by_rail: z.array(z.object({ rail: z.string(), count: z.int(), amount: Atomic })),
  by_evidence: z.array(z.object({ evidence: z.enum(wordList(evidences)), rows: z.int() })),
  by_month: z.array(z.object({ month: z.string().describe('`2026-03` (UTC).'), rows: z.int() })),
  first_collected_at: z.string().nullable(),
  last_collected_at: z.string().nullable(),
});

const RecordAnswer = z.object({
  agent_id: z.int(),
  member_since: Day.describe('When its book was opened (UTC).'),
  as_of: Day.describe('All that is counted happened before this day (UTC).'),
  rows: Range,
  blocked: Range,
  hubs: Range.describe(
    'Number of different hubs named in its paid rows, as a range. In rows of payments to others the agent chose the name.',
  ),
  networks: z.array(z.string()),
  spend: z.array(z.object({ rail: z.string(), amount: Range })).describe('Atomic units of each rail.'),
  jobs: z
    .object({
      posted: Range.describe('Jobs that it has posted on the board.').meta({ graph: 'jobsPosted' }),
      won: Range.describe('Jobs of which its bid was picked.').meta({ graph: 'jobsWon' }),
      closed: Range.describe('Jobs that it has won and whose output it has revealed.').meta({ graph: 'jobsClosed' }),
      refusals_made: Range.describe('Deliveries of others that it has refused as a poster.'),
      refusals_received: Range.describe('Deliveries of its own that posters have refused.'),
    })
    .describe('Jobs of the agent on the board.'),
  off_board: OffBoard.optional().describe('With `opt_in=1`: exact, and up to this moment.'),
});
nameComponents({ AgentRecord: RecordAnswer, OffBoardHistory: OffBoard });

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
