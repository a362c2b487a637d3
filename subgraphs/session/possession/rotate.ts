import { Refusal } from '../../../schema/errors.ts';
import type { HeldBook } from '../../../schema/principal.ts';
import type { Services } from '../../context.ts';
import { agentById } from '../agent/find.ts';
import { endSession } from './end.ts';
import { type Issued, issueSession } from './issue.ts';

/**
 * A new session for the one in hand, which ends; the book stays. Compare-and-set: a session that was ended meanwhile
 * rotates nothing, or whoever stole the old one could take the new one away.
 * @throws forbidden
 */
export async function rotateSession(
  { agent_id, session_hash }: HeldBook,
  services: Pick<Services, 'database' | 'random' | 'vault'>,
): Promise<Issued> {
  const agent = await agentById(services.database, agent_id);
  if (agent === null) throw new Error(`agent ${agent_id} holds a session and does not exist`);
  return services.database.transaction(async tx => {
    const ended = await endSession(tx, { agent_id, task_id: agent.taskId });
    if (ended !== session_hash) throw new Refusal('forbidden');
    return issueSession(tx, agent_id, services);
  });
}
