import type { KeptRevocation } from '../../receipt/issuer/revoked-sessions.ts';
import type { RevokedSession } from './session.type.ts';

/** A revocation as the graph shows it. Its number is shown only in the public list of revocations. */
export function shownRevocation({ delegation_hash, payer, at, signature, revoked_at }: KeptRevocation): RevokedSession {
  return { delegationHash: delegation_hash, status: 'revoked', payer, at, signature, revokedAt: revoked_at };
}
