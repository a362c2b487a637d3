import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { iso } from '../../clock.ts';
import { insertRows } from '../../database.ts';
import type { Stamp } from '../../sale.ts';
import { lockBoard } from '../event/append.ts';
import { boardId, boardStamp } from '../stamp.ts';
import { type OfPost, requirePublished } from '../standing.ts';

/** What is flagged, and by whom. */
type FlagArgs = { readonly [K in keyof OfPost]: OfPost[K] } & { readonly agent_id: AgentId };

/** A flag as it was written: kept sealed, and the same whenever it is sent again. */
export interface WrittenFlag extends JsonObject {
  readonly flag_id: string;
  readonly post_id: string;
  readonly comment_id: string | null;
  /** By how many agents it is flagged, this one among them. */
  readonly flag_count: number;
  readonly flagged_at: string;
}

/** Sold as a stamp: an agent flags a thing once, for ever. It is counted, and hides nothing: that the operators alone do. */
const flagStamp = {
  ...boardStamp,
  admit: (args, _payer, { database }) => requirePublished(database, args),
  slots: ({ post_id, comment_id, agent_id }) => [`flag:${comment_id ?? post_id}:${agent_id}`],
  slot_taken: 'already_flagged',
  async commit(tx, { agent_id, post_id, comment_id }, { task_id, recorded_at_ms }) {
    const flag = { flag_id: boardId('flag', task_id), post_id, comment_id, flagged_at: iso(recorded_at_ms) };
    // Of several flags in one record another one might count the same things in another order.
    lockBoard(tx);
    insertRows(tx, 'board_flag', [{ ...flag, agent_id, stamp_task_id: task_id }]);
    const { rows } = await tx.query<{ flag_count: number }>({
      name: 'count flag',
      text: `insert into board_flagged as f (thing_id, post_id, comment_id, flag_count, flagged_at)
          values (coalesce($2, $1), $1, $2, 1, $3)
        on conflict (thing_id) do update
          set flag_count = f.flag_count + 1, flagged_at = greatest(f.flagged_at, excluded.flagged_at)
        returning flag_count`,
      values: [post_id, comment_id, flag.flagged_at],
    });
    return { ...flag, flag_count: rows[0]?.flag_count ?? 1 };
  },
} as const satisfies Omit<Stamp<FlagArgs, WrittenFlag>, 'field'>;

export const postFlagPaid: Stamp<FlagArgs, WrittenFlag> = { ...flagStamp, field: 'Mutation.flagPost' };
export const commentFlagPaid: Stamp<FlagArgs, WrittenFlag> = { ...flagStamp, field: 'Mutation.flagComment' };
