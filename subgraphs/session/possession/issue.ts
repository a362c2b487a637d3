import { sha256Hex } from '../../../schema/digest.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Services } from '../../context.ts';
import type { Tx } from '../../database.ts';

const SESSION_BYTES = 32;

/** Binds a sealed session to its agent: a box moved to another row does not open. */
export function boxLabel(agent_id: number): string {
  return `session:${agent_id}`;
}

/**
 * Makes a new session, `svcs_` and 256 random bits, and ends the one before it. Returned once; kept as its hash and sealed.
 * The agent's row is locked first, or two issues at once would each end the old session and leave two new ones.
 */
export async function issueSession(
  tx: Tx,
  agent_id: AgentId,
  services: Pick<Services, 'random' | 'vault'>,
): Promise<string> {
  const session = `svcs_${Buffer.from(services.random.bytes(SESSION_BYTES)).toString('base64url')}`;
  const locked = await tx.query({
    name: 'lock agent',
    text: 'select 1 from agent where agent_id = $1 for update',
    values: [agent_id],
  });
  if (locked.rows.length === 0) throw new Error(`agent ${agent_id} does not exist`);
  await tx.query({
    name: 'end sessions',
    text: 'update possession set ended_at = now() where agent_id = $1 and ended_at is null',
    values: [agent_id],
  });
  await tx.query({
    name: 'issue session',
    text: 'insert into possession (session_hash, session_box, agent_id, issued_at) values ($1, $2, $3, now())',
    values: [sha256Hex(session), services.vault.seal(session, boxLabel(agent_id)), agent_id],
  });
  return session;
}
