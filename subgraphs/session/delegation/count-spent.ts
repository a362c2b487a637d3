import type { Tx } from '../../database.ts';
import { TREE_CHANNEL } from '../../live-channels.ts';
import type { ClaimSession } from './hold.ts';

/** A call that is recorded in this transaction, and its session. */
export interface RecordedCall {
  readonly task_id: string;
  readonly agent_id: number | null;
  readonly under: ClaimSession;
}

/**
 * Counts the held amounts of calls as spent, on the session of each call and on all sessions above it. This happens in the transaction
 * that records the call and its claim, so that each amount is counted once. The first recorded payment of a session binds it. Sessions
 * are locked after everything else, in the order of their hashes. @throws if a session is missing, because spending that is not counted
 * would exceed its cap
 */
export async function countSpent(tx: Tx, calls: readonly RecordedCall[]): Promise<void> {
  if (calls.length === 0) return;
  const spent = new Map<string, { holds: bigint; burns: number }>();
  for (const { under } of calls)
    for (const name of under.path) {
      const { holds, burns } = spent.get(name) ?? { holds: 0n, burns: 0 };
      spent.set(name, { holds: holds + BigInt(under.holds), burns: burns + 1 });
    }
  const added = [...spent].map(([delegation_hash, { holds, burns }]) => {
    return { delegation_hash, spent_atomic: holds.toString(), burn_position: burns };
  });
  const { rows: counted } = await tx.query<CountedSession & object>({
    name: 'count spent of sessions',
    text: `with locked as materialized (
        select delegation_hash from delegation where delegation_hash = any($2) order by delegation_hash for update)
      update delegation d set spent_atomic = d.spent_atomic + n.spent_atomic,
        burn_position = d.burn_position + n.burn_position, bound_at = coalesce(d.bound_at, now())
      from jsonb_populate_recordset(null::delegation, $1::jsonb) n join locked using (delegation_hash)
      where d.delegation_hash = n.delegation_hash
      returning d.delegation_hash, d.spent_atomic, d.burn_position`,
    values: [JSON.stringify(added), [...spent.keys()]],
  });
  if (counted.length !== spent.size) throw new Error('a session that was paid under is not there to be counted on');
  keepBurns(tx, calls, counted);
}

/**
 * Stores the session of each call. The key of a session finds its receipts and rows by it, and a row its session. Call this before the
 * rows are written, because they are counted by session.
 */
export function keepCalls(tx: Tx, calls: readonly RecordedCall[]): void {
  if (calls.length === 0) return;
  tx.write({
    name: 'keep delegated calls',
    text: `insert into delegated_call (task_id, delegation_hash, agent_id, amount_atomic)
      select task_id, delegation_hash, agent_id, amount_atomic from jsonb_populate_recordset(null::delegated_call, $1::jsonb)
      on conflict do nothing`,
    values: [
      JSON.stringify(
        calls.map(({ task_id, agent_id, under }) => ({
          task_id,
          agent_id,
          delegation_hash: under.delegation_hash,
          amount_atomic: under.holds,
        })),
      ),
    ],
  });
}

interface SpentCall {
  readonly task_id: string;
  readonly under: ClaimSession;
}

/** State of a session after all these calls were counted. */
interface CountedSession {
  readonly delegation_hash: string;
  readonly burn_position: number;
  readonly spent_atomic: bigint;
}

/** Numbers the payments of each session and notifies subscribers. The numbers have no gaps, because the sessions are locked before. */
function keepBurns(tx: Tx, calls: readonly SpentCall[], counted: readonly CountedSession[]): void {
  const standing = new Map(counted.map(({ delegation_hash, ...counts }) => [delegation_hash, { ...counts }]));
  const burns = calls.toReversed().flatMap(({ task_id, under: { delegation_hash: paid_under, path, holds } }) =>
    path.flatMap(delegation_hash => {
      const session = standing.get(delegation_hash);
      if (!session) return [];
      const { burn_position: position, spent_atomic } = session;
      session.burn_position -= 1;
      session.spent_atomic -= BigInt(holds);
      return { delegation_hash, position, task_id, paid_under, amount_atomic: holds, spent_atomic: `${spent_atomic}` };
    }),
  );
  tx.write({
    name: 'keep burns of sessions',
    text: `with kept as (
        insert into session_burn (delegation_hash, position, task_id, paid_under, amount_atomic, spent_atomic)
        select delegation_hash, position, task_id, paid_under, amount_atomic, spent_atomic
        from jsonb_populate_recordset(null::session_burn, $1::jsonb) returning delegation_hash, position)
      select pg_notify('${TREE_CHANNEL}', delegation_hash || ':' || max(position)) from kept group by delegation_hash`,
    values: [JSON.stringify(burns)],
  });
}
