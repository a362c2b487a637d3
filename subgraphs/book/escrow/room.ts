import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { escrowLimits } from '../../../schema/limits.ts';
import type { Tx } from '../../database.ts';
import { LIVE_A2A } from './a2a-escrow.entity.ts';

/* Limits on the number of escrows, which are free. Checked under the lock of the head, so that concurrent requests cannot exceed them. */

/** statement_timestamp() is stable within a statement, unlike clock_timestamp(), so the index can be used. */
const RECENT = `opened_at > statement_timestamp() - interval '1 hour'`;
const counts = (live: string, of: string) => `count(*) filter (where ${live} and ${of})::int as live,
  count(*) filter (where ${RECENT} and ${of})::int as recent,
  ceil(extract(epoch from min(opened_at) filter (where ${RECENT} and ${of}) + interval '1 hour' - clock_timestamp()))::int
    as seconds`;

interface Count {
  readonly live: number;
  readonly recent: number;
  /** Seconds until the oldest escrow of the last hour is an hour old. Null if none was opened. */
  readonly seconds: number | null;
}

/** Checks the limits of the ledger escrows of a book. @throws escrows_full, rate_limited */
export async function requireLedgerRoom(tx: Tx, agent_id: AgentId): Promise<void> {
  const live = "state = 'open' and expires_at > clock_timestamp()";
  const { rows } = await tx.query<Count>({
    name: 'room for ledger escrows',
    text: `select ${counts(live, 'true')} from ledger_escrow where agent_id = $1 and (state = 'open' or ${RECENT})`,
    values: [agent_id],
  });
  const { live_per_book_max, opens_per_book_hour_max } = escrowLimits;
  requireWithin(rows[0], { live_max: live_per_book_max, hour_max: opens_per_book_hour_max, of: 'A book' });
}

/** Checks the limits of a principal, in total and with this counterparty. @throws escrows_full, rate_limited */
export async function requireA2aRoom(tx: Tx, principal: AgentId, counterparty: AgentId): Promise<void> {
  const live = `${LIVE_A2A} and (expires_at > clock_timestamp() or state not in ('open', 'funded'))`;
  const { rows } = await tx.query<{ whole: Count; pair: Count }>({
    name: 'room for a2a escrows',
    text: `with counted as (
        select * from a2a_escrow where principal_agent_id = $1 and (${LIVE_A2A} or ${RECENT})),
      whole as (select ${counts(live, 'true')} from counted),
      pair as (select ${counts(live, 'counterparty_agent_id = $2')} from counted)
      select to_jsonb(whole) as whole, to_jsonb(pair) as pair from whole, pair`,
    values: [principal, counterparty],
  });
  const { live_per_book_max, opens_per_book_hour_max, live_per_pair_max, opens_per_pair_hour_max } = escrowLimits;
  requireWithin(rows[0]?.pair, {
    live_max: live_per_pair_max,
    hour_max: opens_per_pair_hour_max,
    of: 'A pair of agents',
  });
  requireWithin(rows[0]?.whole, { live_max: live_per_book_max, hour_max: opens_per_book_hour_max, of: 'A book' });
}

function requireWithin(
  count: Count | undefined,
  { live_max, hour_max, of }: { readonly live_max: number; readonly hour_max: number; readonly of: string },
): void {
  if (!count) throw new Error('escrows were not counted');
  if (count.live >= live_max)
    throw new Refusal('escrows_full', { detail: `${of} can have at most ${live_max} live escrows.` });
  if (count.recent < hour_max) return;
  throw new Refusal('rate_limited', {
    detail: `${of} can open at most ${hour_max} escrows per hour.`,
    facts: { retry_after_seconds: Math.max(1, count.seconds ?? 1) },
  });
}
