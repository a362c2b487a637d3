/**
 * Where a task stands. Until there is a receipt by its payment: `working`, `settling`, or `released` again; `canceled` by its
 * buyer; `refused` by the payer's book. With one: `completed`, or `accepted` where the task came without input.
 */
export const taskStates = ['working', 'settling', 'released', 'canceled', 'refused', 'completed', 'accepted'] as const;
export type TaskState = (typeof taskStates)[number];
