import { sha256Hex } from '../../../schema/digest.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { leaveCredential } from '../../book/heads/book-changes.ts';
import { iso } from '../../clock.ts';
import type { Services } from '../../context.ts';
import type { Tx } from '../../database.ts';

const SESSION_BYTES = 32;

/** Label that binds an encrypted session to its agent, so that it cannot be decrypted in the row of another agent. */
export function boxLabel(agent_id: number): string {
  return `session:${agent_id}`;
}

/** A new session secret: `svcs_` and 256 random bits in base64url. */
export function newSession({ random }: Pick<Services, 'random'>): string {
  return `svcs_${Buffer.from(random.bytes(SESSION_BYTES)).toString('base64url')}`;
}

export interface IssuedSession {
  readonly session: string;
  /** Time by the clock of the database. */
  readonly issued_at: Date;
}

/**
 * Issues a session for an agent that has none. The secret is returned once, and stored as a hash and in encrypted form. The caller has
 * created the agent or ended its session in this transaction, because a unique index allows only one live session.
 */
export async function issueSession(
  tx: Tx,
  agent_id: AgentId,
  services: Pick<Services, 'random' | 'vault'>,
): Promise<IssuedSession> {
  const session = newSession(services);
  const hash = sha256Hex(session);
  const { rows } = await tx.query<{ issued_at: Date }>({
    name: 'issue session',
    text: `insert into possession (session_hash, session_box, agent_id, issued_at) values ($1, $2, $3, now())
      returning issued_at`,
    values: [hash, services.vault.seal(session, boxLabel(agent_id)), agent_id],
  });
  const [issued] = rows;
  if (!issued) throw new Error('a session was not inserted');
  leaveCredential(tx, { credential: 'session', hash, at: iso(issued.issued_at.getTime()) });
  return { session, issued_at: issued.issued_at };
}
