import { atomicAmount, remainder } from '../../../schema/amount.ts';
import type { SessionTreePageMembers } from '../../../schema/requests/session.ts';
import { statusOf } from '../../../schema/session/grant-rule.ts';
import { sessionLimits } from '../../../schema/session/session-limits.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Tx } from '../../database.ts';
import { endedBy, revokedAmong } from '../../receipt/issuer/revoked-sessions.ts';
import type { SessionContext } from '../context.ts';
import { Delegation } from './delegation.entity.ts';
import { heldUnder } from './held-under.ts';
import { payersSession } from './payers-session.ts';
import { shownRevocation } from './shown-revocation.ts';
import type { SessionNode, SessionTreePage } from './tree.type.ts';

/**
 * A session and all below it, parents before children, page by page; each page as one moment of the database has it. @throws
 * unauthenticated, forbidden, not_found
 */
export async function sessionTree(
  delegation_hash: string,
  { limit, cursor }: SessionTreePageMembers,
  context: SessionContext,
): Promise<SessionTreePage> {
  const { session } = await payersSession(delegation_hash, context);
  const size = Math.min(limit ?? sessionLimits.tree_sessions_default, sessionLimits.tree_sessions_max);
  const [depth = null, hash = null] = cursor?.split('.') ?? [];
  return context.database.transaction(async tx => {
    const { rows } = await tx.query({
      name: 'sessions of a tree',
      text: `select ${selectList(Delegation)} from delegation
        where path ? $1 and bound_at is not null
          and ($3::int is null or (jsonb_array_length(path), delegation_hash) > ($3, $4::text))
        order by jsonb_array_length(path), delegation_hash limit $2`,
      values: [session.delegationHash, size + 1, depth, hash],
    });
    const sessions = rows.slice(0, size).map(row => asEntity(Delegation, row));
    const last = rows.length > size ? sessions.at(-1) : undefined;
    return {
      sessions: await nodesOf(tx, session, sessions, Math.floor(context.clock.now_ms() / 1000)),
      truncated: last !== undefined,
      nextCursor: last ? `${last.path.length}.${last.delegationHash}` : null,
    };
  });
}

async function nodesOf(
  tx: Tx,
  root: Delegation,
  sessions: readonly Delegation[],
  now_seconds: number,
): Promise<SessionNode[]> {
  const names = [...new Set(sessions.flatMap(({ path }) => path))];
  const revoked = await revokedAmong(tx, names);
  const held = await heldUnder(tx, names, []);
  return sessions.map(node => {
    const ended = endedBy(node.path, revoked);
    const heldAtomic = atomicAmount(held.get(node.delegationHash) ?? 0n);
    return {
      ...node,
      boundAt: node.boundAt ?? node.createdAt,
      status: statusOf(node, ended !== null, now_seconds),
      endedBy: ended && shownRevocation(ended),
      parentDelegationHash: node.parentHash,
      depth: node.path.length - root.path.length,
      heldAtomic,
      remainingAtomic: remainder(node.capAtomic, atomicAmount(node.spentAtomic + heldAtomic)),
    };
  });
}
