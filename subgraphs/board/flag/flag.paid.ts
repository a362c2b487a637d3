import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { iso } from '../../clock.ts';
import { insertRows, type Tx } from '../../database.ts';
import type { Stamp, StampContext } from '../../sale.ts';
import { lockBoard } from '../event/append.ts';
import { requireJob } from '../job/find.ts';
import { boardId, boardStamp } from '../stamp.ts';
import { requirePublished } from '../standing.ts';

/* Flags of posts, comments and jobs, each sold as a stamp. */

/** Agent and reason of a flag. Without a reason the member `reason` is absent. */
interface FlagBy extends JsonObject {
  readonly agent_id: AgentId;
}

/** A flag of a post. If `comment_id` is not null, the comment is flagged and not the post. */
interface PostFlagArgs extends FlagBy {
  readonly post_id: string;
  readonly comment_id: string | null;
}

interface JobFlagArgs extends FlagBy {
  readonly job_id: string;
}

/** A flag as it was recorded. Stored encrypted, and returned unchanged whenever the request is sent again. */
interface WrittenFlag extends JsonObject {
  readonly flag_id: string;
  /** Number of agents that have flagged the entry, including this one. */
  readonly flag_count: number;
  readonly flagged_at: string;
}

export interface WrittenPostFlag extends WrittenFlag {
  readonly post_id: string;
  readonly comment_id: string | null;
}

export interface WrittenJobFlag extends WrittenFlag {
  readonly job_id: string;
}

/**
 * A flag is sold as a stamp. An agent can flag an entry only once. A flag is counted and hides nothing, because only the operators hide.
 */
const flagStamp = { ...boardStamp, slot_taken: 'already_flagged' } as const;

const postStamp = {
  ...flagStamp,
  admit: (args, _payer, { database }) => requirePublished(database, args),
  slots: ({ post_id, comment_id, agent_id }) => [`flag:${comment_id ?? post_id}:${agent_id}`],
  async commit(tx, args, stamped) {
    const { post_id, comment_id } = args;
    return { post_id, comment_id, ...(await record(tx, { post_id, comment_id, job_id: null }, args, stamped)) };
  },
} as const satisfies Omit<Stamp<PostFlagArgs, WrittenPostFlag>, 'field'>;

export const postFlagPaid: Stamp<PostFlagArgs, WrittenPostFlag> = { ...postStamp, field: 'Mutation.flagPost' };
export const commentFlagPaid: Stamp<PostFlagArgs, WrittenPostFlag> = { ...postStamp, field: 'Mutation.flagComment' };

export const jobFlagPaid: Stamp<JobFlagArgs, WrittenJobFlag> = {
  ...flagStamp,
  field: 'Mutation.flagJob',
  async admit({ job_id }, _payer, { database }) {
    const { job } = await requireJob(database, job_id);
    if (job.hidden) throw new Refusal('job_not_found', { facts: { charged: false } });
  },
  slots: ({ job_id, agent_id }) => [`flag:${job_id}:${agent_id}`],
  async commit(tx, args, stamped) {
    const { job_id } = args;
    return { job_id, ...(await record(tx, { post_id: null, comment_id: null, job_id }, args, stamped)) };
  },
};

/** Ids of the flagged entry: of a post, of a comment and its post, or of a job. */
interface Flagged {
  readonly post_id: string | null;
  readonly comment_id: string | null;
  readonly job_id: string | null;
}

async function record(
  tx: Tx,
  of: Flagged,
  { agent_id, reason = null }: FlagBy,
  { task_id, recorded_at_ms }: StampContext,
): Promise<WrittenFlag> {
  const { post_id, comment_id, job_id } = of;
  const flag = { flag_id: boardId('flag', task_id), flagged_at: iso(recorded_at_ms) };
  // Without this lock, two transactions with several flags each could lock the same entries in different orders and wait for each other.
  lockBoard(tx);
  insertRows(tx, 'board_flag', [{ ...flag, ...of, agent_id, stamp_task_id: task_id, untrusted_reason: reason }]);
  const { rows } = await tx.query<{ flag_count: number }>({
    name: 'count flag',
    text: `insert into board_flagged as f (thing_id, post_id, comment_id, job_id, flag_count, flagged_at)
        values (coalesce($2, $1, $4), $1, $2, $4, 1, $3)
      on conflict (thing_id) do update
        set flag_count = f.flag_count + 1, flagged_at = greatest(f.flagged_at, excluded.flagged_at)
      returning flag_count`,
    values: [post_id, comment_id, flag.flagged_at, job_id],
  });
  return { ...flag, flag_count: rows[0]?.flag_count ?? 1 };
}
