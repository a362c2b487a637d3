import type { Tx } from '../../database.ts';
import { SESSION_CHANNEL } from '../../live-channels.ts';
import { forgetRegistration, forgetRegistrations } from '../registration/answer.ts';

/** The members of an agent that its session depends on. */
export interface Holder {
  readonly agent_id: number;
  /** Task of the receipt that registered the agent. */
  readonly task_id: string;
}

/**
 * Ends the session of an agent in every process at once: no process caches sessions, and this transaction notifies open sockets. Returns
 * the hash of the session, or null if the agent has none. The row of the agent is locked first, because otherwise two concurrent
 * requests would each issue a new session. Lock order: claim → agent → session.
 */
export async function endSession(tx: Tx, { agent_id, task_id }: Holder): Promise<string | null> {
  forgetRegistration(tx, task_id);
  const locked = await tx.query({
    name: 'lock agent',
    text: 'select 1 from agent where agent_id = $1 for update',
    values: [agent_id],
  });
  if (locked.rows.length === 0) throw new Error(`agent ${agent_id} does not exist`);
  const { rows } = await tx.query<{ session_hash: string }>({
    name: 'end session',
    text: `update possession set ended_at = now() where agent_id = $1 and ended_at is null returning session_hash`,
    values: [agent_id],
  });
  tx.write({ name: 'tell of end', text: 'select pg_notify($1, $2)', values: [SESSION_CHANNEL, agent_id] });
  return rows[0]?.session_hash ?? null;
}

/** Ends the sessions of all agents. Each agent gets a new one with its wallet. Open sockets are notified, as in `endSession`. */
export async function endAllSessions(tx: Tx): Promise<void> {
  await forgetRegistrations(tx);
  await tx.query({
    text: `with ended as (update possession set ended_at = now() where ended_at is null returning agent_id)
      select count(pg_notify($1, agent_id::text)) from ended`,
    values: [SESSION_CHANNEL],
  });
}
