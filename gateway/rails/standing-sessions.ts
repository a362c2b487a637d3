import type { Tx } from '../../subgraphs/database.ts';
import type { Lease } from '../../subgraphs/receipt/claim/claim.ts';
import { lockUnsettled } from '../../subgraphs/receipt/claim/unsettled.ts';
import { revokedUnder } from '../../subgraphs/session/delegation/revoked-under.ts';

interface UnderSession {
  readonly lease: Lease;
  /** The session that it is paid under and all that stand over it; absent where it is under none. */
  readonly path?: readonly string[];
}

/**
 * Those whose sessions stand as they are about to settle: a revocation outlives nothing but what is settling by then. What
 * is settling already is not asked again. Locks all claims of the batch first, then sessions by hash.
 */
export async function underStanding<I extends UnderSession>(tx: Tx, items: readonly I[]): Promise<readonly I[]> {
  if (!items.some(({ path }) => path)) return items;
  const unsettled = await lockUnsettled(
    tx,
    items.map(({ lease }) => lease),
  );
  const asked = items.flatMap(({ lease, path = [] }) => (unsettled.has(lease.claim_key) ? path : []));
  const revoked = await revokedUnder(tx, [...new Set(asked)]);
  return items.filter(
    ({ lease, path = [] }) => !unsettled.has(lease.claim_key) || !path.some(name => revoked.has(name)),
  );
}
