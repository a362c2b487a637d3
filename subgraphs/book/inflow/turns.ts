import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { inflowLimits } from '../../../schema/inflow-limits.ts';
import { Semaphore } from '../../semaphore.ts';

/** Each write of an inflow waits for its book's head, and keeps a connection meanwhile that those who pay could use. */
const turns = new Semaphore({
  at_once_max: inflowLimits.writes_at_once_max,
  wait_ms_max: inflowLimits.write_wait_ms_max,
  waiting_per_asker_max: inflowLimits.writes_waiting_per_book_max,
});

/** Few at a time in one process, books in turn. @throws rate_limited */
export async function inTurn<T extends object>(agent_id: AgentId, write: () => Promise<T>): Promise<T> {
  const written = await turns.take(String(agent_id), write);
  if (!written) throw new Refusal('rate_limited', { detail: 'Too many inflows of this book come at once.' });
  return written;
}
