import type { Tx } from '../../database.ts';
import { TREE_CHANNEL } from '../../live-channels.ts';
import type { PaidUnder } from './hold.ts';

interface Burnt {
  readonly task_id: string;
  readonly under: PaidUnder;
}

/** How a session stands with all of these counted on it. */
export interface CountedSession {
  readonly delegation_hash: string;
  readonly burn_position: number;
  readonly spent_atomic: bigint;
}

/** Tells each session what has counted on it, in order, and wakes whoever follows it. Behind the sessions' locks, so without a gap. */
export function keepBurns(tx: Tx, calls: readonly Burnt[], counted: readonly CountedSession[]): void {
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
