import { Refusal } from '../../../schema/errors.ts';
import type { SessionStatus } from '../../../schema/session/delegated-session.ts';
import type { Grant } from '../../../schema/session/grant.ts';
import { statusOf } from '../../../schema/session/grant-rule.ts';
import { ZERO_HASH } from '../../../schema/session/typed-data.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { firstRevocation, type KeptRevocation, revocationsAmong } from '../../receipt/issuer/revoked-sessions.ts';
import { Delegation } from './delegation.entity.ts';

type Reading = Pick<Database, 'query'>;

/** A session, even if no recorded payment has bound it. Null if no payment was ever made under it. */
export async function delegationByHash(database: Reading, delegation_hash: string): Promise<Delegation | null> {
  const [found = null] = await delegationsByHash(database, [delegation_hash]);
  return found;
}

/** Several sessions, in any order. Unknown ones are left out. */
export async function delegationsByHash(
  database: Reading,
  delegation_hashes: readonly string[],
): Promise<readonly Delegation[]> {
  const rows = await database.query({
    name: 'delegations by hash',
    text: `select ${selectList(Delegation)} from delegation where delegation_hash = any($1)`,
    values: [delegation_hashes],
  });
  return rows.map(row => asEntity(Delegation, row));
}

/** Whether a signature is the stored one, which was verified when the session was claimed. */
export function isSignedBySame(session: Pick<Delegation, 'signature'>, signature: string): boolean {
  return session.signature.toLowerCase() === signature.toLowerCase();
}

/** The grant of a session. */
export function grantOf(session: Delegation): Grant {
  const { payer, agentPubkey, capAtomic, validAfter, sessionExpiry, parentHash, models, doors, salt } = session;
  return {
    payer,
    agentPubkey,
    capAtomic: capAtomic.toString(),
    validAfter,
    sessionExpiry,
    parentDelegationHash: parentHash ?? ZERO_HASH,
    models,
    doors,
    salt,
  };
}

/**
 * Wallet that granted the root of a session. Null if the root is unknown. The id of a root is a hash that covers its payer. So the payer
 * never changes, and can be read before the transaction that uses it.
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

/** A session with its status, including revocations of sessions above it. */
export interface StandingSession {
  readonly session: Delegation;
  readonly status: SessionStatus;
  /** Revocation that ended the session. Null if there is none. */
  readonly ended_by: KeptRevocation | null;
}

/** A session with its status. @throws not_found if no recorded payment has bound the session */
export async function standingSession(
  database: Reading,
  delegation_hash: string,
  now_seconds: number,
): Promise<StandingSession> {
  const session = await delegationByHash(database, delegation_hash.toLowerCase());
  if (session === null || session.boundAt === null) throw new Refusal('not_found');
  const revoked = await revocationsAmong(database, session.path);
  const ended_by = firstRevocation(session.path, revoked);
  return { session, status: statusOf(session, ended_by !== null, now_seconds), ended_by };
}

/** A session that is active. @throws not_found, session_not_active */
export async function activeSession(
  database: Reading,
  delegation_hash: string,
  now_seconds: number,
): Promise<Delegation> {
  const { session, status } = await standingSession(database, delegation_hash, now_seconds);
  if (status !== 'active') throw new Refusal('session_not_active', { facts: { session_status: status } });
  return session;
}
