import { sha256Hex } from '../../../schema/digest.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Services } from '../../context.ts';
import type { Database } from '../../database.ts';
import { boxLabel } from './issue.ts';
import { proofMatches } from './proof.ts';

const SESSION = /^svcs_[A-Za-z0-9_-]{43}$/;

/** What fits in the column: anything else is no agent, and Postgres would call it an error. */
function isAgentId(value: number): boolean {
  return Number.isInteger(value) && value > 0 && value < 2 ** 31;
}

/** Whose book a session opens; null where it never was, or has ended. */
export async function agentOfSession(database: Database, session: string): Promise<AgentId | null> {
  if (!SESSION.test(session)) return null;
  const rows = await database.query<{ agent_id: AgentId }>({
    name: 'agent of session',
    text: 'select agent_id from possession where session_hash = $1 and ended_at is null',
    values: [sha256Hex(session)],
  });
  return rows[0]?.agent_id ?? null;
}

/** Whether a book proof was made with the live session of `agent_id`; null also where there is no such agent. */
export async function agentOfProof(
  services: Pick<Services, 'database' | 'vault' | 'clock'>,
  proof: { readonly agent_id: number; readonly value: string },
): Promise<AgentId | null> {
  if (!isAgentId(proof.agent_id)) return null;
  const rows = await services.database.query<{ agent_id: AgentId; session_box: Buffer }>({
    name: 'session box of agent',
    text: 'select agent_id, session_box from possession where agent_id = $1 and ended_at is null',
    values: [proof.agent_id],
  });
  const live = rows[0];
  if (!live) return null;
  const session = services.vault.open(live.session_box, boxLabel(live.agent_id)).toString();
  return proofMatches(proof.value, session, live.agent_id, services.clock.now_ms()) ? live.agent_id : null;
}
