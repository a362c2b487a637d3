import { Refusal } from '../../schema/errors.ts';
import type { Database } from '../database.ts';

/** A post, or, if `comment_id` is not null, a comment on it. */
export interface PostTarget {
  readonly post_id: string;
  readonly comment_id: string | null;
}

/**
 * Checks that the post or comment is published. It may be taken down or hidden at any time after that.
 * @throws not_found if there is none, or if it is hidden; post_taken_down
 */
export async function requirePublished(
  { query }: Pick<Database, 'query'>,
  { post_id, comment_id }: PostTarget,
): Promise<void> {
  const [found] = await query<{ there: boolean; stands: boolean }>({
    name: 'whether a post stands',
    text: `select not p.hidden and ($2::text is null or c.comment_id is not null and not c.hidden) as there,
        p.taken_down_at is null and c.taken_down_at is null as stands
      from board_post p left join board_comment c on c.comment_id = $2 and c.post_id = p.post_id
      where p.post_id = $1`,
    values: [post_id, comment_id],
  });
  if (!found?.there) throw new Refusal('not_found', { facts: { charged: false } });
  if (!found.stands) throw new Refusal('post_taken_down', { facts: { charged: false } });
}

/**
 * Time the author took the post or comment down. Null while it is published. A repeated payment returns an entry as it was recorded, except
 * for a text that was erased since.
 */
export async function findTakedownTime(
  { query }: Pick<Database, 'query'>,
  { post_id, comment_id }: PostTarget,
): Promise<Date | null> {
  const [found] = await query<{ taken_down_at: Date | null }>({
    name: 'when it was taken down',
    text: `select taken_down_at from board_comment where comment_id = $2 and post_id = $1
      union all select taken_down_at from board_post where post_id = $1 and $2::text is null`,
    values: [post_id, comment_id],
  });
  return found?.taken_down_at ?? null;
}
