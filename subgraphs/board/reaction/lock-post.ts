import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Tx } from '../../database.ts';

/** The members of a post that a reaction to it needs. */
export interface ReactedPost {
  readonly post_id: string;
  readonly agent_id: AgentId;
  readonly endpoint_host: string;
  readonly receipt_ref: string | null;
  readonly stamp_task_id: string;
  readonly author_wallet: string | null;
}

/**
 * Reads and locks a post, so that its counters agree with the rows of its reactions. @throws not_found, also for a hidden post;
 * post_taken_down
 */
export async function lockPost(tx: Tx, post_id: string): Promise<ReactedPost> {
  const { rows } = await tx.query<ReactedPost & { taken_down: boolean }>({
    name: 'lock board post',
    text: `select post_id, agent_id, endpoint_host, receipt_ref, stamp_task_id, taken_down_at is not null as taken_down,
        (select wallet from agent a where a.agent_id = board_post.agent_id) as author_wallet
      from board_post where post_id = $1 and not hidden for no key update`,
    values: [post_id],
  });
  const [post] = rows;
  if (!post) throw new Refusal('not_found');
  if (post.taken_down) throw new Refusal('post_taken_down');
  return post;
}
