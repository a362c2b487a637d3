import { atomicAmount, remainder } from '../../../schema/amount.ts';
import { Refusal } from '../../../schema/errors.ts';
import { statusOf } from '../../../schema/session/grant-rule.ts';
import { sessionLimits } from '../../../schema/session/session-limits.ts';
import { possessedAgents } from '../../access.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { revokedAmong } from '../../receipt/issuer/revoked-sessions.ts';
import type { SessionContext } from '../context.ts';
import { Delegation } from './delegation.entity.ts';
import { standingSession } from './find.ts';
import { heldUnder } from './held-under.ts';
import type { SessionNode } from './session.type.ts';

/**
 * A session and all below it, parents before children, as one moment of the database has them. @throws unauthenticated,
 * forbidden, not_found
 */
export async function sessionTree(delegation_hash: string, context: SessionContext): Promise<SessionNode[]> {
  const { database, principal, clock } = context;
  if (principal.possession.kind === 'absent') throw new Refusal('unauthenticated');
  const now_seconds = Math.floor(clock.now_ms() / 1000);
  const { session } = await standingSession(database, delegation_hash, now_seconds);
  await requirePayer(database, session, possessedAgents(principal));
  return database.transaction(async tx => {
    const { rows } = await tx.query({
      text: `select ${selectList(database.orm, Delegation)} from delegation where path ? $1 and bound_at is not null
        order by jsonb_array_length(path), delegation_hash limit $2`,
      values: [session.delegationHash, sessionLimits.tree_sessions_max],
    });
    const sessions = rows.map(row => asEntity(Delegation, row));
    const names = [...new Set(sessions.flatMap(({ path }) => path))];
    const revoked = await revokedAmong(tx, names);
    const held = await heldUnder(tx, names, []);
    return sessions.map(node => {
      const over = node.path.some(name => revoked.has(name));
      const heldAtomic = atomicAmount(held.get(node.delegationHash) ?? 0n);
      return {
        ...node,
        boundAt: node.boundAt ?? node.createdAt,
        status: statusOf(node, over, now_seconds),
        parentDelegationHash: node.parentHash,
        depth: node.path.length - session.path.length,
        heldAtomic,
        remainingAtomic: remainder(node.capAtomic, atomicAmount(node.spentAtomic + heldAtomic)),
      };
    });
  });
}

/** Whoever holds the book of its payer, or of the payer of one over it. @throws forbidden */
async function requirePayer(
  database: Pick<Database, 'query'>,
  { path }: Delegation,
  agent_ids: readonly number[],
): Promise<void> {
  const payers = await database.query({
    name: 'payers of sessions',
    text: `select 1 from delegation join agent on agent.wallet = delegation.payer
      where delegation_hash = any($1) and agent_id = any($2) limit 1`,
    values: [path, agent_ids],
  });
  if (payers.length === 0) throw new Refusal('forbidden');
}
