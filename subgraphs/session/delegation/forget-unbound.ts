import { sessionLimits } from '../../../schema/session/session-limits.ts';
import type { Database } from '../../database.ts';

/**
 * Forgets sessions under which no payment was ever recorded: whoever signs grants and lets their payments come to nothing
 * must not fill the disk. One that an open payment holds stays, whose `validBefore` may be weeks away; a payment that comes
 * under such a grant again writes it down anew. Some in each round, each by one process.
 */
export async function forgetUnbound(database: Pick<Database, 'query'>): Promise<void> {
  const { unbound_forgotten_at_once_max: max, unbound_kept_seconds } = sessionLimits;
  for (;;) {
    const forgotten = await database.query({
      name: 'forget unbound sessions',
      text: `delete from delegation where delegation_hash in (
          select delegation_hash from delegation d
          where bound_at is null and created_at < now() - make_interval(secs => $2) and not exists (
            select from payment_claim where state in ('claimed', 'settling', 'held') and landing ? 'delegation'
              and landing->'delegation'->'path' ? d.delegation_hash)
          order by created_at limit $1 for update skip locked)
        returning 1`,
      values: [max, unbound_kept_seconds],
    });
    if (forgotten.length < max) return;
  }
}
