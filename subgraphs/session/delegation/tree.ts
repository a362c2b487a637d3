import { atomicAmount, remainder } from '../../../schema/amount.ts';
import { Refusal } from '../../../schema/errors.ts';
import { sessionLimits } from '../../../schema/limits.ts';
import type { RootSessionsPage, SessionTreePageRequest } from '../../../schema/requests/session.ts';
import { statusOf } from '../../../schema/session/grant-rule.ts';
import { requirePossession } from '../../access.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Tx } from '../../database.ts';
import { firstRevocation, revocationsAmong } from '../../receipt/issuer/revoked-sessions.ts';
import type { SessionContext } from '../context.ts';
import { Delegation } from './delegation.entity.ts';
import { heldAmounts } from './held-amounts.ts';
import { ownsPayersBook, payersSession } from './payers-session.ts';
import type { SessionDetail } from './session.type.ts';
import { shownRevocation } from './shown-revocation.ts';
import type { SessionNode, SessionTreePage } from './tree.type.ts';

/**
 * A page of a session and all sessions below it, parents before children. Each page is read from one snapshot. @throws unauthenticated,
 * not_a_party, not_found
 */
export async function sessionTree(
  delegation_hash: string,
  { limit, cursor }: SessionTreePageRequest,
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
      sessions: await detailedSessions(tx, sessions, nowSeconds(context), session.path.length),
      truncated: last !== undefined,
      nextCursor: last ? `${last.path.length}.${last.delegationHash}` : null,
    };
  });
}

/** Sessions with their limits and spending. @param root_depth length of the path of the session from which `depth` is counted */
async function detailedSessions(
  tx: Tx,
  sessions: readonly Delegation[],
  now_seconds: number,
  root_depth = 1,
): Promise<SessionNode[]> {
  const names = [...new Set(sessions.flatMap(({ path }) => path))];
  const revoked = await revocationsAmong(tx, names);
  const held = await heldAmounts(tx, names, []);
  return sessions.map(node => {
    const ended = firstRevocation(node.path, revoked);
    const heldAtomic = atomicAmount(held.get(node.delegationHash) ?? 0n);
    const { capAtomic, spentAtomic, models, doors } = node;
    const remainingAtomic = remainder(capAtomic, atomicAmount(spentAtomic + heldAtomic));
    return {
      ...node,
      boundAt: node.boundAt ?? node.createdAt,
      status: statusOf(node, ended !== null, now_seconds),
      endedBy: ended && shownRevocation(ended),
      parentDelegationHash: node.parentHash,
      depth: node.path.length - root_depth,
      heldAtomic,
      remainingAtomic,
      detail: { capAtomic, spentAtomic, heldAtomic, remainingAtomic, models, doors },
    };
  });
}

function nowSeconds({ clock }: SessionContext): number {
  return Math.floor(clock.now_ms() / 1000);
}

/**
 * Limits and spending of a session, for a caller that possesses the book of its payer or of the payer of a session above it. Null for
 * other callers. @throws forbidden if the proof opens no book
 */
export async function detailForPayer(session: Delegation, context: SessionContext): Promise<SessionDetail | null> {
  const { possession } = context.principal;
  if (possession.kind === 'absent') return null;
  if (possession.kind === 'wrong') throw new Refusal('forbidden');
  return (await ownsPayersBook(session, context)) ? (await detailOf(session, context)).detail : null;
}

/** A session with its limits and spending. The caller has checked the right to see them. */
export async function detailOf(session: Delegation, context: SessionContext): Promise<SessionNode> {
  const [detail] = await context.database.transaction(tx =>
    detailedSessions(tx, [session], nowSeconds(context), session.path.length),
  );
  if (!detail) throw new Error('of each session there is one detail');
  return detail;
}

/** Time of binding in Unix microseconds. The cursor of root sessions consists of this time and the id of a session. */
const ROOTS_BEFORE = `(extract(epoch from bound_at) * 1000000)::int8`;

/**
 * A page of the sessions that the wallet of a book has granted directly, newest first. @throws unauthenticated, forbidden,
 * invalid_request
 */
export async function rootSessions(
  agent_id: number,
  { limit, cursor }: RootSessionsPage,
  context: SessionContext,
): Promise<SessionTreePage> {
  const held = requirePossession(context.principal, agent_id);
  const size = Math.min(limit ?? sessionLimits.listed_sessions_default, sessionLimits.listed_sessions_max);
  const [bound_us = null, hash = null] = cursor?.split('.') ?? [];
  return context.database.transaction(async tx => {
    const { rows } = await tx.query<Record<string, unknown> & { bound_us: string }>({
      name: 'root sessions of an agent',
      text: `select ${selectList(Delegation)}, ${ROOTS_BEFORE}::text as bound_us from delegation
        where payer = (select wallet from agent where agent_id = $1) and parent_hash is null and bound_at is not null
          and ($3::int8 is null or (${ROOTS_BEFORE}, delegation_hash) < ($3, $4::text))
        order by ${ROOTS_BEFORE} desc, delegation_hash desc limit $2`,
      values: [held, size + 1, bound_us, hash],
    });
    const shown = rows.slice(0, size);
    const last = rows.length > size ? shown.at(-1) : undefined;
    const sessions = shown.map(({ bound_us: _, ...row }) => asEntity(Delegation, row));
    return {
      sessions: await detailedSessions(tx, sessions, nowSeconds(context)),
      truncated: last !== undefined,
      nextCursor: last ? `${last.bound_us}.${String(last.delegationHash)}` : null,
    };
  });
}
