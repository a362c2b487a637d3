import type { KeptRevocation } from '../../receipt/issuer/revoked-sessions.ts';
import type { RevokedSession } from './session.type.ts';

/** As the graph shows it. Only the public list has its number. */
export function shownRevocation({ delegation_hash, payer, at, signature, revoked_at }: KeptRevocation): RevokedSession {
  return { delegationHash: delegation_hash, status: 'revoked', payer, at, signature, revokedAt: revoked_at };
}
