import { type ErrorCode, Refusal } from '../../../schema/errors.ts';
import { revocationDigest } from '../../../schema/session/act.ts';
import { sessionLimits } from '../../../schema/session/session-limits.ts';
import { TREE_CHANNEL } from '../../live-channels.ts';
import {
  type KeptRevocation,
  keepRevocation,
  lockRevocations,
  revokedAmong,
} from '../../receipt/issuer/revoked-sessions.ts';
import type { SessionContext } from '../context.ts';
import { delegationByHash } from './find.ts';
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
 * Whose it is: of the payer of the session, or else of those over it, the nearest first. A wallet that cannot be asked now keeps
 * none of the others from ending what stands below them.
 */
async function signerOf(
  { at, signature }: ShownRevocation,
  session: Revocable,
  { database, free_wallets, principal }: SessionContext,
): Promise<string> {
  const digest = revocationDigest(session.delegationHash, at);
  const asked = new Set<string>();
  let unknown: ErrorCode | null = null;
  for (const name of session.path.toReversed()) {
    const { payer } = name === session.delegationHash ? session : ((await delegationByHash(database, name)) ?? session);
    if (asked.has(payer)) continue;
    asked.add(payer);
    const verdict = await free_wallets.verifies(payer, digest, signature, principal.address);
    if (verdict === 'valid') return payer;
    if (verdict !== 'invalid') unknown = verdict === 'no_turn' ? 'unavailable' : 'chain_unavailable';
  }
  throw unknown === null ? new Refusal('revocation_invalid', { param: 'signature' }) : new Refusal(unknown);
}
