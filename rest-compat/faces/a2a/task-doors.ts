import { parse } from 'graphql';
import { z } from 'zod';
import { BoughtTaskNoun } from '../../../schema/bought-task.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { BoughtTaskRequest, BoughtTasksRequest, CancelTaskRequest } from '../../../schema/requests/bought-task.ts';
import { JsonMembers } from '../../answer-shapes.ts';
import { documentDoor } from '../../door.ts';

/* The free methods of A2A as endpoints, so that each passes the same checks. The rate limit counts them in serve.ts. */

const taskColumns = {
  methods: ['POST'],
  path: '/a2a-message',
  tags: ['inference'],
  possession: 'offered',
  headers: z.object({ 'x-svc-payer': z.string().optional() }),
  complete: (body: JsonObject, headers: { readonly 'x-svc-payer'?: string | undefined }) => ({
    ...body,
    payer: headers['x-svc-payer'] ?? null,
  }),
  response: JsonMembers,
  rated: false,
} as const;

/** Results are selected only if they are requested, and no operation has conditional parts. */
const LIST_TASKS = parse(
  `query a2a_list_tasks(
    $payer: String, $contextId: String, $states: [TaskState!], $since: DateTime, $before: String, $limit: Int, $artifacts: Boolean!
  ) {
    answer: boughtTasks(
      payer: $payer, contextId: $contextId, states: $states, since: $since, before: $before, limit: $limit
    ) {
      tasks {
        task_id: taskId
        state
        at
        context_id: contextId
        is_buyers: isBuyers
        answer @include(if: $artifacts)
        receipt: receiptDocument @include(if: $artifacts)
      }
      total
      next
    }
  }`,
  { noLocation: true },
);

export const getTask = documentDoor({
  ...taskColumns,
  name: 'a2a_get_task',
  effect: 'reads',
  summary: 'Get the state of a task and, as its buyer, its answer and receipt',
  field: 'boughtTask',
  shows: BoughtTaskNoun,
  body: BoughtTaskRequest,
});

/** The same for a message. It is counted by what it buys, so not here. */
export const getMessageTask = { ...getTask, rated: true };

export const cancelTask = documentDoor({
  ...taskColumns,
  name: 'a2a_cancel_task',
  summary: 'Cancel a task before its payment is sent',
  field: 'cancelTask',
  shows: BoughtTaskNoun.omit({ answer: true, receipt: true }),
  body: CancelTaskRequest,
});

export const listTasks = documentDoor({
  ...taskColumns,
  name: 'a2a_list_tasks',
  effect: 'reads',
  summary: 'List the tasks that the caller has bought, last changed first',
  document: LIST_TASKS,
  body: BoughtTasksRequest.extend({ artifacts: z.boolean() }),
});
