import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { iso } from '../../clock.ts';
import { insertRows } from '../../database.ts';
import type { Stamp } from '../../sale.ts';
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
    insertRows(tx, 'board_flag', [{ ...flag, agent_id, stamp_task_id: task_id }]);
    const { rows } = await tx.query<{ count: number }>({
      name: 'flags of post or comment',
      text: `select count(*)::int as count from board_flag where post_id = $1 and comment_id is not distinct from $2`,
      values: [post_id, comment_id],
    });
    return { ...flag, flag_count: rows[0]?.count ?? 1 };
  },
} as const satisfies Omit<Stamp<FlagArgs, WrittenFlag>, 'field'>;

export const postFlagPaid: Stamp<FlagArgs, WrittenFlag> = { ...flagStamp, field: 'Mutation.flagPost' };
export const commentFlagPaid: Stamp<FlagArgs, WrittenFlag> = { ...flagStamp, field: 'Mutation.flagComment' };
