import { type ErrorCode, Refusal } from '../../../schema/errors.ts';
import { sessionLimits } from '../../../schema/limits.ts';
import { revocationDigest } from '../../../schema/session/act.ts';
import { isKeysSignature } from '../../../schema/session/public-key.ts';
import { firstDomain, type SessionDomain, sessionDomain } from '../../../schema/session/typed-data.ts';
import { leaveCredential } from '../../book/heads/leave.ts';
import { iso } from '../../clock.ts';
import type { Tx } from '../../database.ts';
import { TREE_CHANNEL } from '../../live-channels.ts';
import {
  type KeptRevocation,
  keepRevocation,
  lockRevocations,
  revokedAmong,
} from '../../receipt/issuer/revoked-sessions.ts';
import type { SessionContext } from '../context.ts';
import { delegationsByHash } from './find.ts';
import { type Revocable, requireUnboundRoom, revocable } from './revocable.ts';

export interface ShownRevocation {
  readonly delegation_hash: string;
  readonly at: number;
  readonly signature: string;
}

/**
 * Ends a session and all below it: by the word of its payer, or of the payer of one that stands over it. What is claimed
 * already goes on; what waits for the sessions' locks is refused. A grant that came to others before any payment has bound it
 * is revoked likewise, where it is shown beside. @throws not_found, delegation_invalid, revocation_invalid,
 * chain_unavailable, unavailable, rate_limited
 */
export async function revokeSession(shown: ShownRevocation, context: SessionContext): Promise<KeptRevocation> {
  const delegation_hash = shown.delegation_hash.toLowerCase();
  const session = await revocable(delegation_hash, context);
  requireFresh(shown.at, context.clock.now_ms());
  const payer = await signerOf(shown, session, context);
  return context.database.transaction(async tx => {
    await tx.query({
      name: 'lock session',
      text: 'select 1 from delegation where delegation_hash = $1 for update',
      values: [delegation_hash],
    });
    lockRevocations(tx);
    const standing = (await revokedAmong(tx, [delegation_hash])).get(delegation_hash);
    if (standing) return standing;
    if (session.unbound) await requireUnboundRoom(tx, payer);
    const kept = await keepRevocation(tx, { ...shown, delegation_hash, payer }, session.unbound);
    leaveCredential(tx, { credential: 'revocation', hash: delegation_hash, at: iso(kept.revoked_at.getTime()) });
    tx.write({ name: 'tell of revocation', text: 'select pg_notify($1, $2)', values: [TREE_CHANNEL, delegation_hash] });
    return kept;
  });
}

function requireFresh(at: number, now_ms: number): void {
  const age_seconds = Math.floor(now_ms / 1000) - at;
  const { revocation_age_seconds_max, revocation_ahead_seconds_max } = sessionLimits;
  if (age_seconds <= revocation_age_seconds_max && age_seconds >= -revocation_ahead_seconds_max) return;
  throw new Refusal('revocation_invalid', { param: 'at' });
}

/**
 * Whose it is: of the payer of the session, or else of those over it, the nearest first. One whose key has signed is asked alone: what
 * is honest costs no turn that others may have spent. A wallet that cannot be asked now keeps none of the others from ending what
 * stands below them.
 */
async function signerOf(
  { at, signature }: ShownRevocation,
  session: Revocable,
  { database, free_wallets, principal, base_urls }: SessionContext,
): Promise<string> {
  const domains: readonly SessionDomain[] = [
    ...base_urls.map(sessionDomain),
    ...(session.is_of_first_version ? [firstDomain] : []),
  ];
  const digests = domains.map(domain => revocationDigest(domain, session.delegationHash, at));
  const payers = await payersOver(database, session);
  const own = payers.find(payer => digests.some(digest => isKeysSignature(payer, digest, signature)));
  let unknown: ErrorCode | null = null;
  for (const payer of own ? [own] : payers) {
    const verdict = await free_wallets.verifies(payer, digests, signature, principal.address);
    if (verdict === 'valid') return payer;
    if (verdict !== 'invalid') unknown = verdict === 'no_turn' ? 'unavailable' : 'chain_unavailable';
  }
  throw unknown === null ? new Refusal('revocation_invalid', { param: 'signature' }) : new Refusal(unknown);
}

/** Each once: its own, then of those that stand over it, the nearest first. */
async function payersOver(
  database: SessionContext['database'],
  { delegationHash, payer, path }: Revocable,
): Promise<readonly string[]> {
  const found = await delegationsByHash(database, path);
  const over = new Map(found.map(session => [session.delegationHash, session.payer]));
  return [...new Set(path.toReversed().map(name => (name === delegationHash ? payer : (over.get(name) ?? payer))))];
}

/** Revokes every session that may still be used, without the word of its payer, as of `at` (ISO 8601). */
export async function revokeAllSessions(tx: Tx, at: string): Promise<void> {
  lockRevocations(tx);
  await tx.query({
    text: `with revoked as (
        insert into session_revocation (delegation_hash, payer, at, signature, unbound, revoked_at)
        select delegation_hash, payer, floor(extract(epoch from $1::timestamptz)), null, false, $1 from delegation d
        where session_expiry > extract(epoch from $1::timestamptz)
          and not exists (select from session_revocation r where r.delegation_hash = d.delegation_hash)
        order by delegation_hash returning delegation_hash)
      select count(pg_notify($2, delegation_hash)) from revoked`,
    values: [at, TREE_CHANNEL],
  });
}
