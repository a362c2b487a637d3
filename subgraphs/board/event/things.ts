import { BatchedRead } from '../../batched-read.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { BoardPost, STANDING } from '../post/post.entity.ts';

/* What events are of, as it stands now: one read for all who are shown events at a time, a thousand readers included. */

const posts = new WeakMap<Database, BatchedRead<BoardPost>>();

/** Null where it is hidden or taken down. */
export function postOf(database: Database, post_id: string): Promise<BoardPost | null> {
  const read = posts.get(database) ?? new BatchedRead(ids => postsById(database, ids));
  posts.set(database, read);
  return read.ask(post_id);
}

async function postsById(database: Database, ids: readonly string[]): Promise<ReadonlyMap<string, BoardPost>> {
  const text = `select ${selectList(database.orm, BoardPost)} from board_post where post_id = any($1) and ${STANDING}`;
  const found = await database.query<{ postId: string }>({ name: 'posts by id', text, values: [ids] });
  return new Map(found.map(post => [post.postId, asEntity(BoardPost, post)]));
}
