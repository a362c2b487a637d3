import { sessionLimits } from '../../../schema/limits.ts';
import type { Database, Tx } from '../../database.ts';

/**
 * Deletes sessions without a recorded payment, so that clients that sign grants and never pay do not fill the disk. A session that an
 * open payment holds stays, even for weeks, until the `validBefore` of the payment. A later payment stores a deleted session again. Each
 * transaction deletes a limited number, and each session is deleted by one process.
 */
export async function forgetUnpaidSessions(database: Pick<Database, 'transaction'>): Promise<void> {
  for (;;) {
    const locked = await database.transaction(forgetSome);
    if (locked < sessionLimits.unbound_forgotten_at_once_max) return;
  }
}

/**
 * Locks some sessions, and checks again in a second statement whether an open payment holds them. A single statement would see the state
 * before it waited for the locks, and miss a claim that was committed meanwhile. Returns the number of sessions examined.
 */
async function forgetSome(tx: Tx): Promise<number> {
  const { unbound_forgotten_at_once_max: max, unbound_kept_seconds } = sessionLimits;
  const { rows } = await tx.query<{ delegation_hash: string }>({
    name: 'lock unbound sessions',
    text: `select delegation_hash from delegation d
      where bound_at is null and created_at < now() - make_interval(secs => $2) and ${UNHELD}
      order by created_at limit $1 for update skip locked`,
    values: [max, unbound_kept_seconds],
  });
  if (rows.length === 0) return 0;
  await tx.query({
    name: 'forget unbound sessions',
    text: `delete from delegation d where delegation_hash = any($1) and bound_at is null and ${UNHELD}`,
    values: [rows.map(row => row.delegation_hash)],
  });
  return rows.length;
}

const UNHELD = `not exists (
  select from payment_claim where state in ('claimed', 'settling', 'held') and landing ? 'delegation'
    and landing->'delegation'->'path' ? d.delegation_hash)`;
