/* Under which labels the answers to tasks are sealed: a box that was moved to another task does not open. */

/** Of a task that was paid for. */
export const answerLabel = (task_id: string): string => `answer:${task_id}`;

/** Of one for which a key stood in, and whose caller has named it. */
export const keyAnswerLabel = (task_id: string): string => `by-key:${answerLabel(task_id)}`;
