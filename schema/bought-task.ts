import { z } from 'zod';
import { buyerLimits } from './limits.ts';
import { computed, JsonMember, onGraph, TimeMember, word } from './noun.ts';
import { taskStates } from './task-state.ts';

/* A task as the client that bought it sees it, and a page of such tasks. */

export const BoughtTaskNoun = z.object({
  task_id: z.string().describe('Id of the task.'),
  state: word(taskStates),
  at: TimeMember.describe('Time the task entered this state (RFC 3339, UTC).'),
  context_id: z
    .string()
    .describe(
      'Intent under which the task was bought. If it has none: the id of the offer that its buyer accepted, or the id of the task.',
    ),
  is_buyers: z
    .boolean()
    .describe('True if the caller has proven to be the buyer. The answer and the receipt are shown to the buyer only.'),
  answer: computed(
    JsonMember.nullable().describe(
      'Answer of the task, for its buyer. Null for all others, and if the answer is not kept any more.',
    ),
  ),
  receipt: onGraph(
    'receiptDocument',
    computed(
      JsonMember.nullable().describe(
        'Receipt of the task, as GET /receipt/{task_id} shows it, for its buyer. Null for all others, and before there is a receipt.',
      ),
    ),
  ),
});

export const BoughtTaskPageNoun = z.object({
  tasks: z.array(BoughtTaskNoun).describe('Tasks of this page, most recently changed first.'),
  total: z
    .int()
    .describe(
      `Number of tasks on all pages. At most the newest ${buyerLimits.listed_tasks_max} of each kind are counted.`,
    ),
  next: z.string().nullable().describe('`before` of the next page. Null if this is the last page.'),
});
