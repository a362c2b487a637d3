import type { BoardStatus } from '../../../schema/board/post.ts';
import type { RawJson } from '../../../schema/json-text.ts';
import { boardLimits } from '../../../schema/limits.ts';
import type { CommentPageRequest } from '../../../schema/requests/board.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { limitedRows, pageColumns, pageStatement, readPage } from '../written-list.ts';
import { BoardComment } from './comment.entity.ts';

/*
 * Pages of the comments on a post, oldest first, by a keyset. The same statement reads whether the post was taken down; such a post has no
 * comments. A comment that was taken down has no text. Null if there is no such post, or if it is hidden.
 */

interface CommentFilter {
  readonly post_id: string;
  readonly cursor: string;
  readonly limit: number;
}

/** The filter of a request, with its limit applied. */
export function commentFilter(post_id: string, { limit, cursor }: CommentPageRequest): CommentFilter {
  return {
    post_id,
    cursor: cursor ?? '',
    limit: Math.min(limit ?? boardLimits.page_comments_default, boardLimits.page_comments_max),
  };
}

export interface CommentPage {
  readonly filter: CommentFilter;
  readonly postId: string;
  readonly status: BoardStatus;
  readonly comments: RawJson | readonly BoardComment[];
  readonly next: string | null;
}

const statusOf = (taken_down: boolean): BoardStatus => (taken_down ? 'taken_down' : 'published');

export async function listComments(
  { query }: Pick<Database, 'query'>,
  filter: CommentFilter,
): Promise<CommentPage | null> {
  const { post_id, cursor, limit } = filter;
  const rows = await query<{ taken_down: boolean; commentId: string | null } & Record<string, unknown>>({
    name: 'comments of post',
    text: `select p.taken_down_at is not null as taken_down, c.* from board_post p
      left join lateral (${commentsOf(selectList(BoardComment), ['$2', '$3'])}) c on true
      where p.post_id = $1 and not p.hidden order by c."commentId"`,
    values: [post_id, cursor, limit + 1],
  });
  const [first] = rows;
  if (!first) return null;
  const comments = rows.flatMap(({ taken_down: _, ...row }) => (row.commentId ? [asEntity(BoardComment, row)] : []));
  const shown = comments.slice(0, limit);
  const next = comments.length > limit ? (shown.at(-1)?.commentId ?? null) : null;
  return { filter, postId: post_id, status: statusOf(first.taken_down), comments: shown, next };
}

/** The same as JSON. `comment`: an SQL expression over `board_comment r`, and `$1`. */
export async function writtenComments(
  database: Pick<Database, 'query'>,
  filter: CommentFilter,
  { comment, base_url }: { readonly comment: string; readonly base_url: string },
): Promise<(CommentPage & { readonly comments: RawJson }) | null> {
  const { post_id, cursor, limit } = filter;
  const statement = pageStatement('comments of post', comment, () => {
    const columns = pageColumns({ item: comment, id: 'comment_id', order: 'asc', rows: '$4' });
    return `select p.taken_down_at is not null as taken_down, c.* from board_post p
      left join lateral (select ${columns} from (${commentsOf('*', ['$3', '$4'])}) r) c on true
      where p.post_id = $2 and not p.hidden and $1::text is not null`;
  });
  const found = await readPage<{ readonly taken_down: boolean }>(database, statement, [
    base_url,
    post_id,
    cursor,
    limit + 1,
  ]);
  if (found === null) return null;
  const { items, next, taken_down } = found;
  return { filter, postId: post_id, status: statusOf(taken_down), comments: items, next };
}

/** Comments on the post `p`, by the parameters with the cursor and the number of rows. */
function commentsOf(columns: string, [cursor, rows]: readonly [cursor: string, rows: string]): string {
  const shown = `select ${columns} from board_comment
    where p.taken_down_at is null and post_id = p.post_id and not hidden and comment_id > ${cursor} order by comment_id`;
  return limitedRows(shown, boardLimits.page_comments_max + 1, rows);
}
