import { Refusal } from '../../../schema/errors.ts';
import { type SessionStatus, statusOf } from '../../../schema/session/grant-rule.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { endedBy, type KeptRevocation, revokedAmong } from '../../receipt/issuer/revoked-sessions.ts';
import { Delegation } from './delegation.entity.ts';

type Reading = Pick<Database, 'query'>;

/** Also one that no recorded payment has bound yet; null where no payment was ever made under it. */
export async function delegationByHash(database: Reading, delegation_hash: string): Promise<Delegation | null> {
  const [row] = await database.query({
    name: 'delegation by hash',
    text: `select ${selectList(Delegation)} from delegation where delegation_hash = $1`,
    values: [delegation_hash],
  });
  return row ? asEntity(Delegation, row) : null;
}

/**
 * The wallet that has granted the root of a session's path, its first payment's or not. What a root is named by is a hash
 * over its payer, too, so that it may be asked ahead of the transaction that relies on it. Null where the root is not known.
 */
export async function payerOfRoot(
  database: Reading,
  path: readonly string[],
  own: { readonly delegation_hash: string; readonly payer: string },
): Promise<string | null> {
  const [root] = path;
  if (root === undefined) return null;
  return root === own.delegation_hash ? own.payer : ((await delegationByHash(database, root))?.payer ?? null);
}

/** A session that stands, and how: one over it that was revoked has ended it, too. */
export interface StandingSession {
  readonly session: Delegation;
  readonly status: SessionStatus;
  /** Null where none has ended it. */
  readonly ended_by: KeptRevocation | null;
}

/** @throws not_found where no recorded payment has bound it */
export async function standingSession(
  database: Reading,
  delegation_hash: string,
  now_seconds: number,
): Promise<StandingSession> {
  const session = await delegationByHash(database, delegation_hash.toLowerCase());
  if (session === null || session.boundAt === null) throw new Refusal('not_found');
  const revoked = await revokedAmong(database, session.path);
  const ended_by = endedBy(session.path, revoked);
  return { session, status: statusOf(session, ended_by !== null, now_seconds), ended_by };
}

/** @throws not_found, session_not_active */
export async function activeSession(
  database: Reading,
  delegation_hash: string,
  now_seconds: number,
): Promise<Delegation> {
  const { session, status } = await standingSession(database, delegation_hash, now_seconds);
  if (status !== 'active') throw new Refusal('session_not_active', { facts: { session_status: status } });
  return session;
}
