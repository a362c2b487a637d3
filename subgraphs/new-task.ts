import { type TaskId, taskId } from '../schema/ids.ts';
import type { Clock, Random } from './clock.ts';

/** Length of the random part of a task id: 80 bits after the time. */
const RANDOM_BYTES = 10;

/** Makes a unique task id. Task ids sort by the time of the context's clock. */
export function newTask({ clock, random }: { readonly clock: Clock; readonly random: Random }): TaskId {
  return taskId(clock.now_ms(), random.bytes(RANDOM_BYTES));
}
