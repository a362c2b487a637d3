import { Refusal } from '../../schema/errors.ts';
import type { AgentId } from '../../schema/ids.ts';
import { freeWriteLimits } from '../../schema/limits.ts';
import { Semaphore } from '../semaphore.ts';

/**
 * One for inflows, disputes, escrows and reactions together: each write waits for locks, and keeps a connection meanwhile that
 * those who pay could use. With turns for each kind they and the jobs had all of the pool.
 */
const turns = new Semaphore({
  at_once_max: freeWriteLimits.at_once_max,
  wait_ms_max: freeWriteLimits.wait_ms_max,
  waiting_per_asker_max: freeWriteLimits.waiting_per_book_max,
});

/** What nobody pays for is written few at a time in one process, books in turn. @throws rate_limited */
export async function writeInTurn<T extends object>(agent_id: AgentId, write: () => Promise<T>): Promise<T> {
  const written = await turns.take(String(agent_id), write);
  if (written) return written;
  const detail =
    'This agent has too many requests in progress (inflows, disputes, escrows, board reactions). Retry in a moment.';
  throw new Refusal('rate_limited', { detail });
}
