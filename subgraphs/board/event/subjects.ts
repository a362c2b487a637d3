import { BatchedRead } from '../../batched-read.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { BoardComment } from '../comment/comment.entity.ts';
import { shownJobs } from '../job/list.ts';
import { BoardPost, STANDING } from '../post/post.entity.ts';

/* Reads the subjects of events in their current state. All concurrent readers of events share one read of each kind. */

/** Reads the post of an event. Null if it is hidden or was taken down. */
export const postOf = batchedById(postsById);

/** Reads the job of an event. Null if it is hidden, also for its parties, because all followers are shown the same events. */
export const boardJobOf = batchedById(async (database, ids) =>
  keyed(await shownJobs(database, ids), ({ jobId }) => jobId),
);

/**
 * Reads the comment of an event. A comment that was taken down has no text. Null if it is hidden, or if its post is hidden or was taken
 * down.
 */
export const commentOf = batchedById(commentsById);

type ById<V> = ReadonlyMap<string, V>;

function batchedById<V>(read: (database: Database, ids: readonly string[]) => Promise<ById<V>>) {
  const reads = new WeakMap<Database, BatchedRead<V>>();
  return (database: Database, id: string): Promise<V | null> => {
    const known = reads.get(database) ?? new BatchedRead<V>(ids => read(database, ids));
    reads.set(database, known);
    return known.ask(id);
  };
}

async function postsById(database: Database, ids: readonly string[]): Promise<ById<BoardPost>> {
  const text = `select ${selectList(BoardPost)} from board_post where post_id = any($1) and ${STANDING}`;
  const found = await database.query({ name: 'posts by id', text, values: [ids] });
  return keyed(
    found.map(row => asEntity(BoardPost, row)),
    ({ postId }) => postId,
  );
}

async function commentsById(database: Database, ids: readonly string[]): Promise<ById<BoardComment>> {
  const text = `select ${selectList(BoardComment)} from board_comment c
    where comment_id = any($1) and not hidden
      and exists (select from board_post p where p.post_id = c.post_id and ${STANDING})`;
  const found = await database.query({ name: 'comments by id', text, values: [ids] });
  return keyed(
    found.map(row => asEntity(BoardComment, row)),
    ({ commentId }) => commentId,
  );
}

const keyed = <V>(found: readonly V[], keyOf: (it: V) => string): ById<V> => new Map(found.map(it => [keyOf(it), it]));
