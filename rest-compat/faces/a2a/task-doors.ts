import { parse } from 'graphql';
import { z } from 'zod';
import { a2aLimits, buyerLimits } from '../../../schema/limits.ts';
import { taskStates } from '../../../schema/task-state.ts';
import { wordList } from '../../../schema/words.ts';
import { JsonMembers } from '../../answer-shapes.ts';
import { documentDoor } from '../../door.ts';

/* The free methods of A2A as doors: each passes the gate that every other does, and is bounded as any is, once for a call (serve.ts). */

const own = {
  methods: ['POST'],
  path: '/a2a-message',
  tags: ['inference'],
  possession: 'offered',
  headers: z.object({ 'x-svc-payer': z.string().optional() }),
  response: JsonMembers,
  rated: false,
} as const;

/** As the graph has it; this face makes its own answer of it. */
const BoughtTask = z.object({
  task_id: z.string(),
  state: z.enum(wordList(taskStates)),
  at: z.string(),
  context_id: z.string(),
  is_buyers: z.boolean(),
});

/** What tasks brought is asked for only where it is wanted, and no other operation asks for a part by a condition. */
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

const OneTask = z.object({ task_id: z.string().max(a2aLimits.task_id_chars_max) });
type OwnHeaders = z.output<typeof own.headers>;

const payerOf = (headers: OwnHeaders) => headers['x-svc-payer'] ?? null;
const oneTask = ({ headers, body }: { readonly headers: OwnHeaders; readonly body: z.output<typeof OneTask> }) => ({
  taskId: body.task_id,
  payer: payerOf(headers),
});

export const getTask = documentDoor({
  ...own,
  name: 'a2a_get_task',
  effect: 'reads',
  summary: 'Where a task stands, and to its buyer what it brought',
  field: 'boughtTask',
  shows: BoughtTask.extend({ answer: JsonMembers, receipt: JsonMembers.meta({ graph: 'receiptDocument' }) }),
  body: OneTask,
  variables: oneTask,
});

/** The same for a message, which is counted by what it buys, and not at all where it buys nothing. */
export const knownTask = { ...getTask, rated: true };

export const cancelTask = documentDoor({
  ...own,
  name: 'a2a_cancel_task',
  summary: 'Lets go of a task before its payment is sent',
  field: 'cancelTask',
  shows: BoughtTask,
  body: OneTask,
  variables: oneTask,
});

export const listTasks = documentDoor({
  ...own,
  name: 'a2a_list_tasks',
  effect: 'reads',
  summary: 'Tasks of one’s own, those first that have moved last',
  document: LIST_TASKS,
  body: z.object({
    context_id: z.string().nullable(),
    states: z.array(z.enum(wordList(taskStates))).nullable(),
    since: z.string().nullable(),
    before: z.string().nullable(),
    limit: z.int().min(1).max(buyerLimits.tasks_page_max),
    artifacts: z.boolean(),
  }),
  variables: ({ headers, body: { context_id, ...asked } }) => ({
    ...asked,
    payer: payerOf(headers),
    contextId: context_id,
  }),
});
