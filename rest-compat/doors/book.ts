import { z } from 'zod';
import { BookRequest, PageLimit, pageRows } from '../../schema/requests/book.ts';
import { Book } from '../answers/book.ts';
import { digits } from '../digits.ts';
import { operation } from '../document.ts';
import { documentDoor } from '../door.ts';

const AgentPath = z.object({ agent_id: digits(z.int().min(1)) });

export const bookDoors = [
  documentDoor({
    name: 'get_agent_book',
    methods: ['GET', 'POST'],
    path: '/v1/agents/{agent_id}/book',
    summary: "An agent's book: collected spend, budget ceiling and signed allowance",
    tags: ['book'],
    possession: 'required',
    document: operation('get_agent_book'),
    instead: { budget: operation('set_agent_budget') },
    params: AgentPath,
    query: z.object({ limit: digits(PageLimit).optional() }),
    body: BookRequest,
    variables: ({ params, query, body }) => ({
      agentId: params.agent_id,
      limit: pageRows(body.limit ?? query.limit),
      ...(body.budget === undefined ? {} : { budgetAtomic: body.budget }),
    }),
    nulls: { entries: ['payer_wallet'] },
    response: Book,
  }),
] as const;
