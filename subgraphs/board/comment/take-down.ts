import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { writeInTurn } from '../../book/write-in-turn.ts';
import { iso } from '../../clock.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Context } from '../../context.ts';
import { appendBoardEvents } from '../event/append.ts';
import { BoardComment } from './comment.entity.ts';

/**
 * Takes a comment down for its author. Its text is erased; its id and date remain. A repeated request changes nothing and adds no event.
 * @throws not_found, not_author, rate_limited
 */
export async function takeDownComment(
  { database, clock }: Pick<Context, 'database' | 'clock'>,
  agent_id: AgentId,
  { post_id, comment_id }: { readonly post_id: string; readonly comment_id: string },
): Promise<BoardComment> {
  const now_ms = clock.now_ms();
  return writeInTurn(agent_id, () =>
    database.transaction(async tx => {
      const { rows } = await tx.query<Record<string, unknown>>({
        name: 'comment to take down',
        text: `select ${selectList(BoardComment)} from board_comment
          where comment_id = $1 and post_id = $2 for update`,
        values: [comment_id, post_id],
      });
      const comment = rows[0] ? asEntity(BoardComment, rows[0]) : null;
      if (!comment || (comment.hidden && comment.agentId !== agent_id)) throw new Refusal('not_found');
      if (comment.agentId !== agent_id) throw new Refusal('not_author');
      if (comment.takenDownAt !== null) return comment;
      tx.write({
        name: 'take comment down',
        text: 'update board_comment set taken_down_at = $2, untrusted_text = null where comment_id = $1',
        values: [comment_id, iso(now_ms)],
      });
      appendBoardEvents(tx, [{ kind: 'comment_taken_down', post_id, comment_id, at_ms: now_ms }]);
      return asEntity(BoardComment, { ...comment, takenDownAt: new Date(now_ms), untrustedText: null });
    }),
  );
}
