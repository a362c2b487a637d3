import { LineageNoun, LineageRowNoun } from '../../schema/book/book-lineage.ts';
import { LineagePage, LineagePath } from '../../schema/requests/book.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { queryOf } from '../text-members.ts';
import { AgentPath } from './doors.ts';

nameComponents({ LineageEntry: LineageRowNoun, Lineage: LineageNoun });

export const lineageDoors = [
  documentDoor({
    name: 'get_book_lineage',
    tool: { daily: true },
    methods: ['GET'],
    path: '/v1/agents/{agent_id}/book/lineage/{task_id}',
    summary: 'List the ancestors and descendants of a row of the book; 403 if the book has no such row',
    tags: ['book'],
    possession: 'required',
    field: 'lineage',
    params: AgentPath.extend({ task_id: LineagePath.shape.task_id }),
    query: queryOf(LineagePage),
    nulls: { self: [], root: [], ancestors: [], descendants: [] },
    response: LineageNoun,
    errors: ['book_damaged', 'task_not_on_book'],
  }),
] as const;
