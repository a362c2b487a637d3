import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Tx } from '../../database.ts';

/* A book that its audit found damaged accepts no rows except those already paid for, in any process, until it is reopened. */

/** Locks the head until the transaction ends, so that what was read under the lock does not change. */
export async function lockBook(tx: Tx, agent_id: AgentId): Promise<void> {
  await tx.query({ text: 'select 1 from book where agent_id = $1 for update', values: [agent_id] });
}

export function closeBook(tx: Tx, agent_id: AgentId, damage: JsonObject): void {
  tx.write({
    name: 'close book',
    text: `update book set damage = $2::jsonb || jsonb_build_object('found_at', clock_timestamp())
      where agent_id = $1 and damage is null`,
    values: [agent_id, damage],
  });
}

export function openBookAgain(tx: Tx, agent_id: AgentId): void {
  tx.write({ text: 'update book set damage = null where agent_id = $1', values: [agent_id] });
}
