import type { Tx } from '../../database.ts';
import { TREE_CHANNEL } from '../../live-channels.ts';
import type { PaidUnder } from './hold.ts';

/** A call that is recorded in this transaction, and the session that it was paid under. */
export interface RecordedUnder {
  readonly task_id: string;
  readonly agent_id: number | null;
  readonly under: PaidUnder;
}

/**
 * What was held becomes spent, on each session and all over it, in the transaction that records it; its claim is recorded
 * there, so that it is counted once. Binds what the first of them was made under. Sessions are locked by hash, last of all.
 * @throws where one of them is gone: what is not counted would pass its cap
 */
export async function countSpent(tx: Tx, calls: readonly RecordedUnder[]): Promise<void> {
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
 * By it the session's key finds its own receipts and rows, and a row its session: written before the rows themselves, which are counted
 * by it as they land.
 */
export function keepCalls(tx: Tx, calls: readonly RecordedUnder[]): void {
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

interface Burnt {
  readonly task_id: string;
  readonly under: PaidUnder;
}

/** How a session stands with all of these counted on it. */
interface CountedSession {
  readonly delegation_hash: string;
  readonly burn_position: number;
  readonly spent_atomic: bigint;
}

/** Tells each session what has counted on it, in order, and wakes whoever follows it. Behind the sessions' locks, so without a gap. */
function keepBurns(tx: Tx, calls: readonly Burnt[], counted: readonly CountedSession[]): void {
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
