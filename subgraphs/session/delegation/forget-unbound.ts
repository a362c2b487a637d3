import { sessionLimits } from '../../../schema/limits.ts';
import type { Database, Tx } from '../../database.ts';

/**
 * Forgets sessions under which no payment was ever recorded: whoever signs grants and lets their payments come to nothing
 * must not fill the disk. One that an open payment holds stays, whose `validBefore` may be weeks away; a payment that comes
 * under such a grant again writes it down anew. Some in each round, each by one process.
 */
export async function forgetUnbound(database: Pick<Database, 'transaction'>): Promise<void> {
  for (;;) {
    const locked = await database.transaction(forgetSome);
    if (locked < sessionLimits.unbound_forgotten_at_once_max) return;
  }
}

/**
 * Whether a payment holds a session is asked by a statement of its own, behind the session's lock: one that locks and asks
 * at once asks as of before its wait, and a claim that was committed meanwhile would lose what it counts on. Returns how
 * many it went through: none that is held is among them when asked again, unless a claim came between.
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
