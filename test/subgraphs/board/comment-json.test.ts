import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Database, insertRows } from '../../../subgraphs/database.ts';
import { boardPages, storableText } from '../../harness/board/written-pages.ts';

/* A page of comments is written by Postgres where JSON is all that is wanted: it says what the resolvers say. */

const { database, both } = await boardPages();

const ALL =
  'post_id: postId status next comments { __typename comment_id: commentId postId status date: postedAt verifyUrl untrustedText }';

async function addPost(post_id: string, members: object = {}) {
  const post = {
    post_id,
    agent_id: 1,
    endpoint_host: 'a.example',
    outcome: 'success',
    stamp_task_id: `task_${post_id}`,
  };
  const counted = { amount_atomic: '2000', host_basis: 'declared', rail: 'usdc', like_count: 0, confirm_count: 0 };
  const stored = { ...post, ...counted, self_dealt: false, paid_here: false, hidden: false, posted_at: new Date(0) };
  await insert('board_post', [{ ...stored, ...members }]);
}

const insert = (table: string, rows: readonly object[]) =>
  (database as Database).transaction(async tx => insertRows(tx, table, rows));

const comment = fc.record({
  stamp_task_id: storableText,
  untrusted_text: fc.option(storableText),
  hidden: fc.boolean(),
  posted_at: fc.date({ noInvalidDate: true, min: new Date('2000-01-01'), max: new Date('2100-01-01') }),
  taken_down_at: fc.option(fc.constant(new Date(1))),
});

let number = 0;
const commentsOn = (post_id: string, made: readonly object[]) =>
  made.map(it => ({ ...it, post_id, agent_id: 1, comment_id: `comment_${String(++number).padStart(26, '0')}` }));

it('says whatever a comment holds as its resolvers do, and leaves out hidden ones', async () => {
  let post = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(comment, { maxLength: 6 }), async made => {
      const post_id = `post_said_${++post}`;
      await addPost(post_id);
      await insert('board_comment', commentsOn(post_id, made));
      const { page } = await both(`boardComments(postId: "${post_id}") { ${ALL} }`);
      expect(page).toMatchObject({ post_id, status: 'published', next: null });
      expect(page.comments).toHaveLength(made.filter(({ hidden }) => !hidden).length);
    }),
    { numRuns: 60 },
  );
});

it('goes on page by page to the last comment', async () => {
  await addPost('post_long');
  const plain = { stamp_task_id: 'task_x', untrusted_text: 'Yes', hidden: false, posted_at: new Date(0) };
  const made = commentsOn(
    'post_long',
    Array.from({ length: 11 }, () => plain),
  );
  await insert('board_comment', made);
  for (const limit of [1, 4, 11, 200]) {
    const seen: unknown[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { page } = await both(
        `boardComments(postId: "post_long", limit: ${limit}${cursor && `, cursor: "${cursor}"`}) { ${ALL} }`,
      );
      seen.push(...page.comments.map(({ comment_id }: { comment_id: string }) => comment_id));
      cursor = page.next;
    }
    expect(seen).toEqual(made.map(({ comment_id }) => comment_id));
  }
});

it('shows none on a post that was taken down, and nothing of a hidden or unknown one', async () => {
  await addPost('post_down', { taken_down_at: new Date(2) });
  await addPost('post_hidden', { hidden: true });
  const plain = { stamp_task_id: 'task_x', untrusted_text: 'Yes', hidden: false, posted_at: new Date(0) };
  for (const post_id of ['post_down', 'post_hidden']) await insert('board_comment', commentsOn(post_id, [plain]));
  expect((await both(`boardComments(postId: "post_down") { ${ALL} }`)).page).toMatchObject({
    status: 'taken_down',
    comments: [],
  });
  for (const id of ['post_hidden', 'post_none'])
    expect(await both(`boardComments(postId: "${id}") { ${ALL} }`)).toEqual({ page: null });
});

it('takes any selection: no comments, comments under two names, and fragments', async () => {
  await both('boardComments(postId: "post_long") { status }');
  await both(
    'boardComments(postId: "post_long", limit: 3) { a: comments { commentId } b: comments { status ...on BoardComment { date: postedAt } } next }',
  );
});
