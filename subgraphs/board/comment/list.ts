import type { CommentPageNoun } from '../../../schema/board/post.ts';
import { boardLimits } from '../../../schema/limits.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import type { CommentPageRequest } from '../../../schema/requests/board.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { BoardComment } from './comment.entity.ts';

type PostComments = MembersOf<typeof CommentPageNoun> & { readonly comments: readonly BoardComment[] };

/**
 * What was said of a post, in one statement with whether the post stands: of one that was taken down nothing. Oldest first, by a keyset; what was taken down stands without its text. Null where there is no such post, or it is hidden.
 */
export async function commentsOf(
  database: Database,
  post_id: string,
  { limit, cursor }: CommentPageRequest,
): Promise<PostComments | null> {
  const size = Math.min(limit ?? boardLimits.page_comments_default, boardLimits.page_comments_max);
  const rows = await database.query<{ taken_down: boolean; commentId: string | null } & Record<string, unknown>>({
    name: 'comments of post',
    text: `select p.taken_down_at is not null as taken_down, c.* from board_post p
      left join lateral (
        select ${selectList(BoardComment)} from board_comment
        where p.taken_down_at is null and post_id = p.post_id and not hidden and comment_id > $2
        order by comment_id limit $3) c on true
      where p.post_id = $1 and not p.hidden order by c."commentId"`,
    values: [post_id, cursor ?? '', size + 1],
  });
  if (rows.length === 0) return null;
  const comments = rows.flatMap(({ taken_down: _, ...row }) => (row.commentId ? [asEntity(BoardComment, row)] : []));
  const shown = comments.slice(0, size);
  const next = comments.length > size ? (shown.at(-1)?.commentId ?? null) : null;
  return { postId: post_id, status: rows[0]?.taken_down ? 'taken_down' : 'published', comments: shown, next };
}
