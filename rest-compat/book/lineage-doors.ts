import { z } from 'zod';
import { evidences } from '../../schema/evidence.ts';
import { lineageLimits } from '../../schema/limits.ts';
import { PageLimit, pageRows, RowCursorMembers } from '../../schema/requests/book.ts';
import { wordList } from '../../schema/words.ts';
import { Atomic, nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { digits } from '../text-members.ts';
import { AgentPath } from './doors.ts';

/** What is null is left out, as in the book itself; of what is on another book all but the task. */
const LineageEntry = z.object({
  task_id: z.string(),
  on_other_book: z
    .boolean()
    .describe(
      'True if the row stands on another book, as the parent of a redeemed hand-off does; only its task_id is shown. False for a row of this book, and for a parent that is a row of no book.',
    ),
  seq: z.int().optional(),
  depth: z.int().describe('Steps from `self`, up or down.'),
  parent_ref: z.string().optional(),
  evidence: z.enum(wordList(evidences)).optional(),
  collected: z.boolean().optional(),
  collected_at: z.string().optional(),
  amount: Atomic.optional(),
  rail: z.string().optional(),
  payment_ref: z.string().optional(),
  model: z.string().optional(),
  hub: z.string().optional(),
  intent_id: z.string().optional(),
  attempt_index: z.int().optional(),
});

const { steps_max, descendants_max } = lineageLimits;

const LineageAnswer = z.object({
  agent_id: z.int(),
  self: LineageEntry,
  root: LineageEntry.nullable().describe(
    'Root of the chain of parents; this row itself if it has no parent. Null if the root is beyond the limit of steps or on another book.',
  ),
  ancestors: z
    .array(LineageEntry)
    .describe(`Ancestors by parent_ref, nearest first; at most ${steps_max}. The last one may be on another book.`),
  descendants: z.array(LineageEntry).describe('In the order of the book.'),
  truncated: z
    .boolean()
    .describe(`There is more than ${steps_max} steps up or down, or than ${descendants_max} descendants.`),
  next: z.int().nullable().describe('`after` of the next page of descendants; null where there is none.'),
});
nameComponents({ LineageEntry, Lineage: LineageAnswer });

const { after } = RowCursorMembers;

export const lineageDoors = [
  documentDoor({
    name: 'get_book_lineage',
    methods: ['GET'],
    path: '/v1/agents/{agent_id}/book/lineage/{task_id}',
    summary: 'What a row of the book follows from, and what follows from it; 403 where the book has no such row',
    tags: ['book'],
    possession: 'required',
    field: 'lineage',
    params: AgentPath.extend({ task_id: z.string().min(1) }),
    query: z.strictObject({
      limit: digits(PageLimit).optional().describe('Descendants: default 50, more than 200 is clamped.'),
      after: digits(after.unwrap()).optional().describe('Descendants behind the row of this seq: see `next`.'),
    }),
    variables: ({ params, query }) => ({
      agentId: params.agent_id,
      taskId: params.task_id,
      limit: pageRows(query.limit),
      after: query.after ?? null,
    }),
    nulls: { self: [], root: [], ancestors: [], descendants: [] },
    response: LineageAnswer,
    errors: ['book_damaged', 'task_not_on_book'],
  }),
] as const;
