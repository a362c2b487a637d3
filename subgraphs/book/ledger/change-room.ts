import type { AgentId } from '../../../schema/ids.ts';
import { policyLimits } from '../../../schema/limits.ts';
import type { Tx } from '../../database.ts';
import { requireHourRoom } from './hour-room.ts';

/* Limits how often an owner changes settings. Each kind of change has its own index of events. */

const changes = {
  terms: `kind in ('policy_changed', 'budget_changed')`,
  alerts: `kind = 'alerts_changed'`,
} as const;

const max = policyLimits.changes_per_book_hour_max;

/**
 * Limits changes, because they are free and their events keep every policy permanently. Requires the head's lock.
 * @throws Refusal rate_limited
 */
export function requireChangeRoom(tx: Tx, agent_id: AgentId, what: keyof typeof changes): Promise<void> {
  return requireHourRoom(tx, agent_id, {
    name: `room for ${what}`,
    at: 'at',
    from: `book_event where agent_id = $1 and ${changes[what]}`,
    newest: 'position',
    max,
    detail: `A book accepts at most ${max} changes of its ${what} per hour.`,
  });
}
