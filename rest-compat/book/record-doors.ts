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
    summary:
      "Get the public record of an agent (days and ranges); with the agent's session, `opt_in=1` adds the exact history of the book",
    tags: ['book'],
    possession: 'offered',
    field: 'agentRecord',
    params: AgentPath,
    query: z.strictObject({
      opt_in: z
        .enum(['0', '1'])
        .optional()
        .describe("If `1`, the response includes `off_board`. Requires the owner's session or a proof. Default: `0`."),
    }),
    variables: ({ params, query }) => ({ agentId: params.agent_id, optIn: query.opt_in === '1' }),
    // The record changes once a day.
    cache: 'public, max-age=300',
    unkept_with: 'opt_in',
    // A part that was not requested is left out.
    answer: ({ answer }) => (isJsonObject(answer) ? present(answer) : null),
    response: AgentRecordNoun,
    // Without the session of the book, `opt_in=1` is refused.
    errors: ['unauthenticated', 'not_found', 'book_damaged'],
  }),
] as const;
