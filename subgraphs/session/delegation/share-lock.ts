import type { Tx } from '../../database.ts';
import { type KeptRevocation, revocationsAmong } from '../../receipt/issuer/revoked-sessions.ts';

/**
 * Revocations of these sessions, by session. The sessions are share-locked first, in the order of their hashes. So this waits for a
 * concurrent revocation, and a later revocation waits for this transaction.
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
