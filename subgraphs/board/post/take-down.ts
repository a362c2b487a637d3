import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { writeInTurn } from '../../book/write-in-turn.ts';
import { iso } from '../../clock.ts';
import type { Context } from '../../context.ts';
import { appendBoardEvents } from '../event/append.ts';

/**
 * Takes a post down for its author. Its text is erased; its id and date remain. The row of its stamp stays on the book. A repeated request
 * changes nothing and adds no event.
 * @returns the time the post was published
 * @throws not_found, not_author, rate_limited
 */
export async function takeDownPost(
  { database, clock }: Pick<Context, 'database' | 'clock'>,
  agent_id: AgentId,
  post_id: string,
): Promise<Date> {
  const at_ms = clock.now_ms();
  return writeInTurn(agent_id, () =>
    database.transaction(async tx => {
      const { rows } = await tx.query<{ agent_id: AgentId; posted_at: Date; stood: boolean; hidden: boolean }>({
        name: 'post to take down',
        text: `select agent_id, posted_at, taken_down_at is null as stood, hidden from board_post where post_id = $1 for update`,
        values: [post_id],
      });
      const [post] = rows;
      if (!post || (post.hidden && post.agent_id !== agent_id)) throw new Refusal('not_found', { param: 'id' });
      if (post.agent_id !== agent_id) throw new Refusal('not_author');
      if (!post.stood) return post.posted_at;
      tx.write({
        name: 'take post down',
        text: `update board_post set taken_down_at = $2, untrusted_text = null where post_id = $1`,
        values: [post_id, iso(at_ms)],
      });
      appendBoardEvents(tx, [{ kind: 'post_taken_down', post_id, at_ms }]);
      return post.posted_at;
    }),
  );
}
