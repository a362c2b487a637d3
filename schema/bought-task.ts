import { z } from 'zod';
import { buyerLimits } from './limits.ts';
import { computedMember, JsonMember, onGraph, TimeMember, word } from './noun.ts';
import { taskStates } from './task-state.ts';

/* A task as the client that bought it sees it, and a page of such tasks. */

export const BoughtTaskNoun = z.object({
  task_id: z.string().describe('Id of the task.'),
  state: word(taskStates),
  at: TimeMember.describe('Time the task entered this state (RFC 3339, UTC).'),
  context_id: z
    .string()
    .describe(
      'Intent id under which the task was bought; before there is a receipt, only the buyer sees it. Without it: id of the offer that the buyer accepted, or else id of the task.',
    ),
  is_buyers: z
    .boolean()
    .describe('True if the caller has proven to be the buyer. The answer and the receipt are shown to the buyer only.'),
  answer: computedMember(
    JsonMember.nullable().describe(
      'Answer of the work that was bought, for its buyer. In a list only of a chat, message, response or accepted task; the task by its id shows any. Null for a fee (stamp), for everybody but the buyer, before there is a receipt, and if the answer is no longer kept.',
    ),
  ),
  receipt: onGraph(
    'receiptDocument',
    computedMember(
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
      `Number of tasks on all pages. At most the newest ${buyerLimits.listed_tasks_max} of each group, such as completed or refused tasks, are counted.`,
    ),
  next: z.string().nullable().describe('`before` of the next page. Null if this is the last page.'),
});
