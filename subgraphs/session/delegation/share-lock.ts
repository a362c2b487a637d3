import type { Tx } from '../../database.ts';
import { type KeptRevocation, revocationsAmong } from '../../receipt/issuer/revoked-sessions.ts';

/**
 * Revoked sessions among these. Each is share-locked first, by hash: a concurrent revocation is awaited, and a later one waits for
 * this transaction.
 */
export async function shareLockRevocations(
  tx: Tx,
  names: readonly string[],
): Promise<ReadonlyMap<string, KeptRevocation>> {
  await tx.query({
    name: 'share lock sessions',
    text: 'select 1 from delegation where delegation_hash = any($1) order by delegation_hash for share',
    values: [names],
  });
  return revocationsAmong(tx, names);
}
