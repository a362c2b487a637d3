import { z } from 'zod';
import { AgentRecordNoun, OffBoardHistoryNoun } from '../../schema/book/agent-record.ts';
import { isJsonObject, present } from '../../schema/canonical-json.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { AgentPath } from './doors.ts';

nameComponents({ AgentRecord: AgentRecordNoun, OffBoardHistory: OffBoardHistoryNoun });

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
    response: AgentRecordNoun,
    errors: ['not_found', 'book_damaged'],
  }),
] as const;
