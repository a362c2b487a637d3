import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { iso } from '../../clock.ts';
import { insertRows } from '../../database.ts';
import type { Stamp } from '../../sale.ts';
import { appendBoardEvents } from '../event/append.ts';
import { boardId, boardStamp } from '../stamp.ts';
import { requirePublished } from '../standing.ts';

/** Arguments of a comment, to which the payment of the stamp is bound. */
type CommentArgs = { readonly text: string; readonly agent_id: AgentId; readonly post_id: string };

/** A comment as it was recorded. Stored encrypted, and returned unchanged whenever the request is sent again. */
export interface WrittenComment extends JsonObject {
  readonly comment_id: string;
  readonly post_id: string;
  readonly stamp_task_id: string;
  readonly untrusted_text: string;
  readonly posted_at: string;
}

/**
 * A comment is sold as a stamp. If the post is taken down while the comment is paid for, the comment is still recorded. It is not shown,
 * because the post is not shown either.
 */
export const commentPaid: Stamp<CommentArgs, WrittenComment> = {
  ...boardStamp,
  field: 'Mutation.createComment',
  admit: ({ post_id }, _payer, { database }) => requirePublished(database, { post_id, comment_id: null }),
  async commit(tx, { agent_id, post_id, text }, { task_id, recorded_at_ms }) {
    const written = {
      comment_id: boardId('comment', task_id),
      post_id,
      stamp_task_id: task_id,
      untrusted_text: text,
      posted_at: iso(recorded_at_ms),
    };
    const { comment_id } = written;
    insertRows(tx, 'board_comment', [{ ...written, agent_id, hidden: false }]);
    appendBoardEvents(tx, [{ kind: 'comment_created', post_id, comment_id, at_ms: recorded_at_ms }]);
    return written;
  },
};
