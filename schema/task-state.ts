import type { WordOf, Words } from './words.ts';

/**
 * Where a task stands. Until there is a receipt by its payment: `working`, `settling`, or `released` again; `canceled` by its
 * buyer; `refused` by the payer's book. With one: `completed`, or `accepted` where the task came without input.
 */
export const taskStates = {
  graph: 'TaskState',
  description: 'State of a task.',
  meanings: {
    working: 'The task is in progress. Nothing was charged yet.',
    settling: 'Its payment is in progress, or may be.',
    released: 'Its payment was released, and can still be used.',
    canceled: 'Its buyer canceled it before the payment was sent. Nothing was charged.',
    refused: "The payer's book refused it. Nothing was charged.",
    completed: 'It was answered, and has a receipt.',
    accepted: 'It came without input, was accepted, and has a receipt.',
  },
} as const satisfies Words;
export type TaskState = WordOf<typeof taskStates>;

/** Where a page of a buyer's tasks ends: the microseconds at which its last task moved, and that task. */
export const TASKS_PAGE_TOKEN = /^(\d{1,18})\.([\w-]{1,64})$/;
