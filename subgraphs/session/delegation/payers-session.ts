import { Refusal } from '../../../schema/errors.ts';
import { possessedAgents } from '../../access.ts';
import type { SessionContext } from '../context.ts';
import type { Delegation } from './delegation.entity.ts';
import { type StandingSession, standingSession } from './find.ts';

/**
 * A session with its status, if the caller possesses the book of its payer or of the payer of a session above it. @throws
 * unauthenticated, not_a_party, not_found
 */
export async function payersSession(delegation_hash: string, context: SessionContext): Promise<StandingSession> {
  const { database, principal, clock } = context;
  if (principal.possession.kind === 'absent') throw new Refusal('unauthenticated');
  const standing = await standingSession(database, delegation_hash, Math.floor(clock.now_ms() / 1000));
  if (!(await ownsPayersBook(standing.session, context))) throw new Refusal('not_a_party');
  return standing;
}

/** Whether the caller possesses the book of the payer of a session or of a session above it. */
export async function ownsPayersBook(
  { path }: Pick<Delegation, 'path'>,
  { database, principal }: Pick<SessionContext, 'database' | 'principal'>,
): Promise<boolean> {
  const payers = await database.query({
    name: 'payers of sessions',
    text: `select 1 from delegation join agent on agent.wallet = delegation.payer
      where delegation_hash = any($1) and agent_id = any($2) limit 1`,
    values: [path, possessedAgents(principal)],
  });
  return payers.length > 0;
}
