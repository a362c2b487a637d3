import type { WordOf, Words } from './words.ts';

/**
 * State of a task. Without a receipt for its payment: `working`, `settling`, or `released` again; `canceled` by its buyer; `refused` by the
 * payer's book. With a receipt: `completed`, or `accepted` if the task had no input.
 */
export const taskStates = {
  graph: 'TaskState',
  description: 'How far a task has come, or how it ended.',
  meanings: {
    working: 'The task is in progress. Nothing was charged yet.',
    settling: 'The payment is, or may be, in progress.',
    released:
      'The task ended without an answer. Its payment was not collected and can still be used while it is valid: send the same payment again, not another one.',
    canceled: 'The buyer canceled the task before the payment was sent. Nothing was charged.',
    refused: 'The book of the payer refused the task. Nothing was charged.',
    completed: 'The task was answered and has a receipt.',
    accepted: 'The task came without input. It was accepted and has a receipt.',
  },
} as const satisfies Words;
export type TaskState = WordOf<typeof taskStates>;

/** Cursor of a page of a buyer's tasks: the microseconds of the last change of its last task, and that task. */
export const TASKS_PAGE_TOKEN = /^(\d{1,18})\.([\w-]{1,64})$/;
