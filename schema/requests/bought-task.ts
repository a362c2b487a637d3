import { z } from 'zod';
import { a2aLimits, buyerLimits, limits } from '../limits.ts';
import { TimeMember, word } from '../noun.ts';
import { taskStates } from '../task-state.ts';
import { pageLimitWords } from './page-limit.ts';

/* Requests about tasks by the client that bought them. */

const PayerMembers = z.object({
  payer: z
    .string()
    .nullish()
    .describe(
      `Signature of the wallet that paid, as in header X-SVC-Payer: \`<network>:<wallet>:<unix_seconds>:<signature>\`, made within ${limits.wallet_signature_age_seconds_max} seconds. Default: the session or API key identifies the buyer.`,
    ),
});

/** A task, and proof that the request comes from its buyer. */
export const BoughtTaskRequest = PayerMembers.extend({
  task_id: z
    .string()
    .max(a2aLimits.task_id_chars_max)
    .describe('Id of the task, of its answer, or of the offer by which the task was bought.'),
});

/** A task to cancel. The offer by which it was bought does not name it. */
export const CancelTaskRequest = BoughtTaskRequest.extend({
  task_id: BoughtTaskRequest.shape.task_id.describe('Id of the task or of its answer.'),
});

/** Page of the tasks of a buyer. */
export const BoughtTasksRequest = PayerMembers.extend({
  context_id: z
    .string()
    .nullish()
    .describe(
      'Returns only tasks of this intent or offer, or the task with this id if it has no intent. Default: all tasks.',
    ),
  states: z
    .array(word(taskStates))
    .nullish()
    .describe('Returns only tasks in one of these states. Default: all states.'),
  since: TimeMember.nullish().describe(
    'Returns only tasks that have changed at this time or later. Default: all tasks.',
  ),
  before: z.string().nullish().describe('`next` of the previous page. Default: starts at the first page.'),
  limit: z
    .int()
    .nullish()
    .describe(
      pageLimitWords({
        of: 'tasks',
        default: buyerLimits.tasks_page_default,
        max: buyerLimits.tasks_page_max,
        beyond: 'refused',
      }),
    ),
});
