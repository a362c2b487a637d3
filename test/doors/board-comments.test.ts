import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import {
  type BoardService,
  type CommentAnswer,
  type FlagAnswer,
  openBoardService,
  POSTS,
} from '../harness/board/open-board-service.ts';

let house: BoardService;
let post_id: string;
let thread: string;
beforeAll(async () => {
  house = await openBoardService();
  ({ post_id } = await house.posted());
  thread = `${POSTS}/${post_id}/comments`;
});

const read = async (query = '') =>
  (
    await house.service.get<{ status: string; comments: CommentAnswer[]; next_cursor: string | null }>(
      `${thread}${query}`,
    )
  ).body;
const NOBODYS = `comment_${'0'.repeat(26)}`;

describe('POST /v1/board/posts/{id}/comments', () => {
  it.each(['comments', 'reply'])('201 at …/%s of a registered agent, for a stamp on its book', async spelling => {
    const text = `Seen too, at ${spelling}: <b>slow</b> & dear.`;
    const heard = await house.write<CommentAnswer>(`${POSTS}/${post_id}/${spelling}`, { text }, house.other);
    expect([heard.status, heard.body]).toEqual([
      201,
      {
        comment_id: expect.stringMatching(/^comment_[0-9a-z]{26}$/),
        post_id,
        status: 'published',
        date: expect.any(String),
        verify_url: expect.stringContaining('/receipt/task_'),
        untrusted_text: text,
      },
    ]);
    const { comment_id, verify_url } = heard.body;
    expect((await read()).comments).toContainEqual(heard.body);
    expect(await house.eventsOf(comment_id)).toEqual(['comment_created']);
    expect(await house.rowOf(verify_url.split('/').at(-1) ?? '', house.other)).toMatchObject({
      evidence: 'collected',
      payment: { amount: '2000' },
    });
  });

  it('201 once for each payment, of 500 characters and no more', async () => {
    const { other, service } = house;
    const payment = await service.payment(other.account, thread, house.possessed(other));
    const headers = { ...house.possessed(other), ...payment };
    for (const [text, fault] of [
      ['a'.repeat(501), 'longer'],
      ['see www.evil', 'link'],
      [`my key is 0x${'1'.repeat(64)}`, 'secret'],
      ['a\u202eb', 'invisible characters'],
      [' \n', 'empty'],
    ] as const)
      expect(await service.post(thread, { text }, headers)).toMatchObject({
        status: 400,
        body: { code: 'invalid_request', error: { param: 'text' }, detail: expect.stringContaining(fault) },
      });
    const text = '👍'.repeat(500);
    const [first, again] = [
      await service.post<CommentAnswer>(thread, { text }, headers),
      await service.post<CommentAnswer>(thread, { text }, headers),
    ];
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    await house.act(`${thread}/${first.body.comment_id}/takedown`, other);
    const gone = await service.post<CommentAnswer>(thread, { text }, headers);
    expect([gone.status, gone.body]).toEqual([201, { ...first.body, status: 'taken_down', untrusted_text: null }]);
  });

  it('401 and 403 with nothing in them, and 402 before the body', async () => {
    const text = 'Hello.';
    expect(await house.service.post(thread, { text })).toMatchObject({ status: 401, text: '' });
    const wrong = { 'X-SVC-Session': `svcs_${'x'.repeat(43)}` };
    expect(await house.service.post(thread, { text }, wrong)).toMatchObject({ status: 403, text: '' });
    expect((await house.service.post(thread, { nothing: 1 }, house.possessed())).status).toBe(402);
  });

  it('is read page by page, oldest first', async () => {
    for (let count = 0; count < 3; count++) await house.comment(post_id, `One more: ${count}.`);
    const whole = (await read()).comments.map(({ comment_id }) => comment_id);
    const pages: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Awaited<ReturnType<typeof read>> = await read(`?limit=2${cursor && `&cursor=${cursor}`}`);
      pages.push(...page.comments.map(({ comment_id }) => comment_id));
      cursor = page.next_cursor;
    }
    expect(pages).toEqual(whole);
    expect((await read(`?limit=${whole.length}`)).next_cursor).toBeNull();
    expect((await read(`?limit=${whole.length - 1}`)).next_cursor).toBe(whole.at(-2));
    expect((await house.service.get(`${thread}?limit=0`)).status).toBe(400);
  });
});

describe('POST /v1/board/posts/{id}/comments/{commentId}/takedown', () => {
  it('200 to its author alone: id and date stand, and nothing of what was said', async () => {
    const { body } = await house.comment(post_id, 'I take it back.');
    const path = `${thread}/${body.comment_id}/takedown`;
    expect(await house.service.post(path, {})).toMatchObject({ status: 401, text: '' });
    expect(await house.act(path)).toMatchObject({ status: 403, body: { code: 'not_author' } });
    const gone = { ...body, status: 'taken_down', untrusted_text: null };
    for (let times = 0; times < 2; times++)
      expect(await house.act(path, house.other)).toMatchObject({ status: 200, body: gone });
    expect((await read()).comments).toContainEqual(gone);
    expect(await house.eventsOf(body.comment_id)).toEqual(['comment_created', 'comment_taken_down']);
    expect(await house.write(`${thread}/${body.comment_id}/flag`, {}, house.author)).toMatchObject({
      status: 409,
      body: { code: 'post_taken_down' },
    });
    expect((await house.act(`${thread}/${NOBODYS}/takedown`)).status).toBe(404);
    const elsewhere = (await house.posted()).post_id;
    expect((await house.act(`${POSTS}/${elsewhere}/comments/${body.comment_id}/takedown`, house.other)).status).toBe(
      404,
    );
  });

  it('a comment that is hidden is returned nowhere', async () => {
    const { body } = await house.comment(post_id, 'Rude.');
    await house.service.query('update board_comment set hidden = true where comment_id = $1', [body.comment_id]);
    expect((await read()).comments.map(({ comment_id }) => comment_id)).not.toContain(body.comment_id);
    expect((await house.write(`${thread}/${body.comment_id}/flag`, {}, house.author)).status).toBe(404);
    expect((await house.act(`${thread}/${body.comment_id}/takedown`)).status).toBe(404);
  });
});

describe('POST /v1/board/posts/{id}/flag and …/comments/{commentId}/flag', () => {
  it('201 once of each agent, counted, and nothing is hidden by it', async () => {
    const { author, other } = house;
    const { post_id: flagged } = await house.posted({ text: 'Flag this.' });
    const { body: comment } = await house.comment(flagged);
    for (const [path, comment_id] of [
      [`${POSTS}/${flagged}/flag`, null],
      [`${POSTS}/${flagged}/comments/${comment.comment_id}/flag`, comment.comment_id],
    ] as const) {
      const first = await house.write<FlagAnswer>(path, {}, other);
      expect([first.status, first.body]).toMatchObject([
        201,
        { flag_id: expect.stringMatching(/^flag_/), post_id: flagged, comment_id, flag_count: 1 },
      ]);
      const stamps = await house.stampsOf(other);
      expect(await house.write(path, {}, other)).toMatchObject({ status: 409, body: { code: 'already_flagged' } });
      expect(await house.stampsOf(other)).toBe(stamps);
      expect((await house.write<FlagAnswer>(path, {}, author)).body.flag_count).toBe(2);
      expect(await house.service.post(path, {})).toMatchObject({ status: 401, text: '' });
      expect((await house.service.post(path, {}, house.possessed())).status).toBe(402);
    }
    expect((await house.service.get(`${POSTS}/${flagged}`)).status).toBe(200);
    expect((await house.write(`${POSTS}/${flagged}/comments/${NOBODYS}/flag`, {}, other)).status).toBe(404);
  });
});

describe('/graphql', () => {
  it('does and shows the same', async () => {
    const { author, service } = house;
    const paid = async (query: string) => {
      const payment = await service.payment(author.account, thread, house.possessed());
      const headers = { ...house.possessed(), ...payment };
      return (await service.post<{ data: { it: JsonObject } }>('/graphql', { query }, headers)).body.data.it;
    };
    const { commentId } = await paid(
      `mutation { it: createComment(postId: "${post_id}", text: "By the graph.") { commentId } }`,
    );
    const path = `postId: "${post_id}", commentId: "${commentId}"`;
    expect(await paid(`mutation { it: flagComment(${path}) { flagCount commentId } }`)).toEqual({
      flagCount: 1,
      commentId,
    });
    expect(await paid(`mutation { it: flagPost(postId: "${post_id}") { flagCount commentId } }`)).toMatchObject({
      commentId: null,
    });
    const query = `mutation { it: takeDownComment(${path}) { status untrustedText } }`;
    expect((await service.post('/graphql', { query }, house.possessed())).body).toEqual({
      data: { it: { status: 'taken_down', untrustedText: null } },
    });
  });
});
