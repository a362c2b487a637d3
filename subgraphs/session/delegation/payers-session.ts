import { Refusal } from '../../../schema/errors.ts';
import { possessedAgents } from '../../access.ts';
import type { SessionContext } from '../context.ts';
import { type StandingSession, standingSession } from './find.ts';

/**
 * A session, for whoever holds the book of its payer, or of the payer of one over it. @throws unauthenticated, forbidden,
 * not_found
 */
export async function payersSession(
  delegation_hash: string,
  { database, principal, clock }: SessionContext,
): Promise<StandingSession> {
  if (principal.possession.kind === 'absent') throw new Refusal('unauthenticated');
  const standing = await standingSession(database, delegation_hash, Math.floor(clock.now_ms() / 1000));
  const payers = await database.query({
    name: 'payers of sessions',
    text: `select 1 from delegation join agent on agent.wallet = delegation.payer
      where delegation_hash = any($1) and agent_id = any($2) limit 1`,
    values: [standing.session.path, possessedAgents(principal)],
  });
  if (payers.length === 0) throw new Refusal('forbidden');
  return standing;
}
