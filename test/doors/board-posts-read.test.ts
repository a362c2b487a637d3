import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { bookProof, proofWindow } from '../../subgraphs/session/possession/proof.ts';
import { type BoardService, openBoardService, POSTS, type PostAnswer } from '../harness/board/open-board-service.ts';
import { payingFetch } from '../harness/buyer.ts';
import { moveBoard } from '../harness/doors/board-posts.ts';
import { boundProofHeaders } from '../harness/doors/bound-proof.ts';
import { onGraph } from '../harness/doors/on-graph.ts';

let house: BoardService;
beforeAll(async () => {
  house = await openBoardService();
});

const NOBODYS = `post_${'0'.repeat(26)}`;

describe('GET /v1/board/posts', () => {
  it('200 by outcome and by host, page by page, newest first', async () => {
    const endpoint = 'https://pages.example/a';
    const made: string[] = [];
    for (const outcome of ['error', 'success', 'error', 'error'])
      made.push((await house.posted({ endpoint, outcome })).post_id);
    const newest = [...made].reverse();
    const list = async (query: string) =>
      (await house.service.get<{ posts: PostAnswer[]; next_cursor: string | null }>(`${POSTS}?${query}`)).body;
    const ids = async (query: string) => (await list(query)).posts.map(({ post_id }) => post_id);
    expect(await ids('endpoint=pages.example')).toEqual(newest);
    expect(await ids(`endpoint=${encodeURIComponent('https://PAGES.example/b?c')}`)).toEqual(newest);
    expect(await ids('endpoint=pages.example&type=error')).toEqual([newest[0], newest[1], newest[3]]);
    expect((await ids('type=error')).slice(0, 3)).toEqual([newest[0], newest[1], newest[3]]);
    const pages: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Awaited<ReturnType<typeof list>> = await list(
        `endpoint=pages.example&limit=3${cursor && `&cursor=${cursor}`}`,
      );
      pages.push(...page.posts.map(({ post_id }) => post_id));
      cursor = page.next_cursor;
    }
    expect(pages).toEqual(newest);
    // A page that contains the last post has no next page, even if it is full.
    for (const [limit, next] of [
      [3, newest[2]],
      [4, null],
      [100, null],
      [1_000, null],
    ])
      expect((await list(`endpoint=pages.example&limit=${limit}`)).next_cursor, `${limit}`).toBe(next);
    expect(await ids('endpoint=nobody.example')).toEqual([]);
  });

  it('200 by author and by backing, at the door as on the graph; a post that was self-dealt stands by its stamp alone', async () => {
    const { service, author, other } = house;
    const endpoint = 'https://filters.example/a';
    const stamped = await house.posted({ endpoint });
    const backed = await house.posted({ endpoint: 'https://gateway.example/', receipt_ref: await house.called() });
    const theirs = (await house.post({ endpoint }, other)).body;
    const of = (agent: { readonly agent_id: number }, query: string) =>
      `author_agent_id=${agent.agent_id}&limit=100${query}`;
    const list = async (query: string) => (await service.get<{ posts: PostAnswer[] }>(`${POSTS}?${query}`)).body.posts;
    const ids = async (query: string) => (await list(query)).map(({ post_id }) => post_id);
    expect(await ids(of(other, ''))).toContain(theirs.post_id);
    expect(await ids(of(other, ''))).not.toContain(stamped.post_id);
    expect(await ids(of(author, '&endpoint=filters.example'))).toEqual([stamped.post_id]);
    expect(await ids(of(author, '&backing=spend-backed'))).toContain(backed.post_id);
    expect(await ids(of(author, '&backing=spend-backed'))).not.toContain(stamped.post_id);
    expect(await ids('backing=stamp-backed&endpoint=filters.example')).toEqual([theirs.post_id, stamped.post_id]);
    const graph = `query ($agentId: Int!) {
      boardPosts(authorAgentId: $agentId, backing: "spend-backed") { postId selfDealt }
      boardPostPage(authorAgentId: $agentId, backing: "spend-backed") { posts { postId backing selfDealt } }
    }`;
    const { data } = await onGraph<{ boardPosts: JsonObject[]; boardPostPage: { posts: JsonObject[] } }>(
      service,
      graph,
      { agentId: author.agent_id },
    );
    expect(data?.boardPosts).toContainEqual({ postId: backed.post_id, selfDealt: false });
    expect(data?.boardPostPage.posts).toContainEqual({
      postId: backed.post_id,
      backing: 'spend-backed',
      selfDealt: false,
    });

    await service.query('update board_post set self_dealt = true where post_id = $1', [backed.post_id]);
    await moveBoard(service);
    const [stamp] = await service.query<{ stamp_task_id: string }>(
      'select stamp_task_id from board_post where post_id = $1',
      [backed.post_id],
    );
    const shown = {
      backing: 'stamp-backed',
      self_dealt: true,
      verify_url: expect.stringContaining(stamp?.stamp_task_id ?? ''),
    };
    expect((await service.get(`${POSTS}/${backed.post_id}`)).body).toMatchObject(shown);
    expect((await list(of(author, '&backing=stamp-backed'))).find(it => it.post_id === backed.post_id)).toMatchObject(
      shown,
    );
    expect(await ids(of(author, '&backing=spend-backed'))).not.toContain(backed.post_id);
  });

  it.each([
    ['author_agent_id=0', 'author_agent_id'],
    ['author_agent_id=x', 'author_agent_id'],
    ['backing=both', 'backing'],
  ])('400 naming the member: %s', async (query, param) => {
    expect(await house.service.get(`${POSTS}?${query}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', error: { param } },
    });
  });

  it('400 of a filter or a page that can be none', async () => {
    for (const query of ['type=great', 'endpoint=https://', 'limit=0', 'limit=x', 'cursor=post_1', 'sort=asc'])
      expect((await house.service.get(`${POSTS}?${query}`)).status, query).toBe(400);
  });
});

describe('GET /v1/board/posts/{id}', () => {
  it('404 of what is not there, or is hidden', async () => {
    const { post_id } = await house.posted({ endpoint: 'https://hidden.example/' });
    await house.service.query('update board_post set hidden = true where post_id = $1', [post_id]);
    for (const id of [NOBODYS, 'post_1', post_id]) {
      expect((await house.service.get(`${POSTS}/${id}`)).status).toBe(404);
      expect((await house.service.get(`${POSTS}/${id}/comments`)).status).toBe(404);
      expect((await house.comment(id)).status).toBe(404);
      expect((await house.write(`${POSTS}/${id}/flag`, {}, house.other)).status).toBe(404);
    }
    expect((await house.service.get<{ posts: unknown[] }>(`${POSTS}?endpoint=hidden.example`)).body.posts).toEqual([]);
  });
});

describe('what anybody reads', () => {
  it.each(['', '/{id}', '/{id}/comments'])(
    'GET /v1/board/posts%s has a name: 304 to whoever has it, until it is another',
    async below => {
      const { post_id } = await house.posted();
      const path = POSTS + below.replace('{id}', post_id);
      const first = await house.service.get(path);
      const known = { 'if-none-match': first.headers.get('etag') ?? '' };
      expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'public, max-age=2']);
      expect(await house.service.get(path, known)).toMatchObject({ status: 304, text: '' });
      await house.act(`${POSTS}/${post_id}/takedown`);
      expect((await house.service.get(path, known)).status).toBe(200);
    },
  );
});

describe('POST /v1/board/posts/{id}/takedown', () => {
  it('200 to the poster: id and date stand, text and endpoint are gone, and the book’s row stays', async () => {
    const { other } = house;
    const post = await house.posted({ endpoint: 'https://regret.example/x', text: 'I regret this.' });
    const path = `${POSTS}/${post.post_id}`;
    await house.comment(post.post_id);
    expect(await house.service.post(`${path}/takedown`, {})).toMatchObject({ status: 401, text: '' });
    expect(await house.act(`${path}/takedown`, other)).toMatchObject({ status: 403, body: { code: 'not_author' } });
    const tombstone = { post_id: post.post_id, status: 'taken_down', date: post.date };
    for (let times = 0; times < 2; times++)
      expect(await house.act(`${path}/takedown`)).toMatchObject({ status: 200, body: tombstone });
    expect((await house.service.get(path)).body).toEqual(tombstone);
    expect((await house.service.get(`${path}/comments`)).body).toEqual({
      post_id: post.post_id,
      status: 'taken_down',
      comments: [],
      next_cursor: null,
    });
    expect((await house.service.get<{ posts: unknown[] }>(`${POSTS}?endpoint=regret.example`)).body.posts).toEqual([]);
    const gone = { status: 409, body: { code: 'post_taken_down', charged: false } };
    expect(await house.comment(post.post_id)).toMatchObject(gone);
    expect(await house.write(`${path}/flag`, {}, other)).toMatchObject(gone);
    expect(await house.eventsOf(post.post_id)).toEqual(['post_created', 'comment_created', 'post_taken_down']);
    const kept = await house.service.query(
      `select 1 from board_post p where post_id = $1 and p::text ~ 'regret this|/x'`,
      [post.post_id],
    );
    expect(kept).toEqual([]);
    expect(await house.rowOf(post.verify_url.split('/').at(-1) ?? '')).toMatchObject({ evidence: 'collected' });
    expect((await house.act(`${POSTS}/${NOBODYS}/takedown`)).status).toBe(404);
  });
});

describe('a proof of the book, with its agent named in the body', () => {
  it('opens a takedown once, and pays no stamp by itself', async () => {
    const { author, service } = house;
    const { agent_id, session } = author;
    const path = `${POSTS}/${(await house.posted()).post_id}/takedown`;
    const proof = bookProof(session, agent_id, proofWindow(Date.now()));
    expect(await service.post(path, { proof })).toMatchObject({ status: 401, text: '' });
    expect(await service.post(path, { proof, agent_id: house.other.agent_id })).toMatchObject({
      status: 403,
      text: '',
    });
    expect((await service.post(POSTS, { ...house.report(), proof, agent_id })).status).toBe(402);
    expect((await service.post(path, { proof, agent_id })).status).toBe(200);
    expect(await service.post(path, { proof, agent_id })).toMatchObject({ status: 403, text: '' });
    const bound = boundProofHeaders(session, agent_id, { method: 'POST', path, body: { agent_id } });
    expect((await service.post(path, { agent_id }, bound)).status).toBe(200);
  });

  it('posts, by the same proof with and without the payment', async () => {
    const { author, service } = house;
    const body = { ...house.report({ text: 'By a proof.' }), agent_id: author.agent_id };
    const bound = boundProofHeaders(author.session, author.agent_id, { method: 'POST', path: POSTS, body });
    const by = payingFetch(author.account);
    expect((await service.knock('POST', POSTS, { body, headers: bound, by })).status).toBe(201);
  });
});

describe('/graphql', () => {
  it('does and shows the same', async () => {
    const { author, service } = house;
    const ask = async (query: string, headers = {}) =>
      (await service.post<{ data: Record<string, JsonObject>; errors?: JsonObject[] }>('/graphql', { query }, headers))
        .body;
    const mutation = `mutation { it: createPost(agentId: ${author.agent_id}, input: { endpoint: "https://graph.example/", outcome: error, text: "No answer." }) { postId status endpointHost hostBasis rail backing amount untrustedText } }`;
    const payment = await service.payment(author.account, POSTS, house.possessed());
    const { data } = await ask(mutation, { ...house.possessed(), ...payment });
    const { postId, ...said } = data.it ?? {};
    expect(said).toEqual({
      status: 'published',
      endpointHost: 'graph.example',
      hostBasis: 'declared',
      rail: 'usdc',
      backing: 'stamp-backed',
      amount: '2000',
      untrustedText: 'No answer.',
    });
    expect(
      await ask(
        `{ boardPosts(endpoint: "graph.example", limit: 1) { postId } boardPost(postId: "${postId}") { status post { postId } } }`,
      ),
    ).toMatchObject({
      data: { boardPosts: [{ postId }], boardPost: { status: 'published', post: { postId } } },
    });
    const down = `mutation { it: takeDownPost(postId: "${postId}") { status post { postId } } }`;
    expect(await ask(down, house.possessed(house.other))).toMatchObject({
      errors: [{ extensions: { code: 'not_author' } }],
    });
    expect(await ask(down, house.possessed())).toMatchObject({ data: { it: { status: 'taken_down', post: null } } });
    expect(await ask(`{ boardComments(postId: "${postId}") { status comments { commentId } } }`)).toMatchObject({
      data: { boardComments: { status: 'taken_down', comments: [] } },
    });
  });
});
