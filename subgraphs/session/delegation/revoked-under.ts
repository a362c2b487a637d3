import type { Tx } from '../../database.ts';
import { type KeptRevocation, revokedAmong } from '../../receipt/issuer/revoked-sessions.ts';

/**
 * Those of these sessions that were revoked. Each is share-locked first, by hash: a revocation that is being said is waited
 * for, and one that comes later waits for this transaction.
 */
export async function revokedUnder(tx: Tx, names: readonly string[]): Promise<ReadonlyMap<string, KeptRevocation>> {
  await tx.query({
    name: 'share lock sessions',
    text: 'select 1 from delegation where delegation_hash = any($1) order by delegation_hash for share',
    values: [names],
  });
  return revokedAmong(tx, names);
}
