import { type TaskId, taskId } from '../schema/ids.ts';
import type { Clock, Random } from './clock.ts';

/** As many as `taskId` spells: 80 bits behind the time. */
const RANDOM_BYTES = 10;

/** The id of a task that nobody has named: it sorts by the context's time, and nobody else makes it. */
export function newTask({ clock, random }: { readonly clock: Clock; readonly random: Random }): TaskId {
  return taskId(clock.now_ms(), random.bytes(RANDOM_BYTES));
}
