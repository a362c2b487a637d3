import { Refusal } from '../../schema/errors.ts';
import type { AgentId } from '../../schema/ids.ts';
import { freeWriteLimits } from '../../schema/limits.ts';
import { Semaphore } from '../semaphore.ts';

/**
 * Limits all free writes (inflows, disputes, escrows, reactions) together. Each write waits for locks and holds a connection that
 * paying requests could use. With one semaphore per kind, the writes and the jobs together would use the whole pool.
 */
const turns = new Semaphore({
  at_once_max: freeWriteLimits.at_once_max,
  wait_ms_max: freeWriteLimits.wait_ms_max,
  waiting_per_asker_max: freeWriteLimits.waiting_per_book_max,
});

/**
 * Runs a free write when its turn comes. Few run at once in one process, and books take turns.
 * @throws Refusal rate_limited
 */
export async function writeInTurn<T extends object>(agent_id: AgentId, write: () => Promise<T>): Promise<T> {
  const written = await turns.take(String(agent_id), write);
  if (written) return written;
  const detail =
    'This agent has too many requests in progress (inflows, disputes, escrows, board reactions). Try again in a moment.';
  throw new Refusal('rate_limited', { detail });
}
