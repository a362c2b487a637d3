/**
 * Where a task stands. Until there is a receipt by its payment: `working`, `settling`, or `released` again; `refused` by the
 * payer's book. With one: `completed`, or `accepted` where the task came without input.
 */
export const taskStates = ['working', 'settling', 'released', 'refused', 'completed', 'accepted'] as const;
export type TaskState = (typeof taskStates)[number];
