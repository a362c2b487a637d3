import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { insertPost, postEvents } from '../harness/doors/board-posts.ts';
import { completionReport } from '../harness/doors/completions.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { ask, CHAT, openService, type Service } from '../harness/doors/open-service.ts';
import { openSocket } from '../harness/doors/socket.ts';

const INBOUND = '/v1/board/inbound/completions';
const hex = () => randomBytes(24).toString('hex');
const [ops, inbound] = [`ops-${hex()}`, `inbound-${hex()}`];
const byOps = { 'X-SVC-Board-Ops': ops };
const byInbound = { 'X-SVC-Board-Inbound': inbound };
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
beforeAll(async () => {
  service = await openService({
    BOARD_OPS_SECRET: ops,
    BOARD_INBOUND_SECRET: inbound,
    DEMO_KEYS: 'a-demo-key',
    RATE_CREDENTIALS: '40/600',
    LOG_LEVEL: 'trace',
  });
  agent = await service.newAgent();
});

const post = () => insertPost(service, { agent_id: agent.agent_id });
const hide = (post_id: string, headers: Readonly<Record<string, string>>) =>
  service.post(`/v1/board/posts/${post_id}/hide`, {}, headers);
const graph = (query: string, headers: Readonly<Record<string, string>>) => onGraph(service, query, {}, headers);
const newComment = async (post_id: string) => {
  const comment_id = `comment_${hex()}`;
  await service.query(
    `insert into board_comment (comment_id, post_id, agent_id, stamp_task_id, untrusted_text, posted_at)
      values ($1, $2, $3, 'task_none', 'text', now())`,
    [comment_id, post_id, agent.agent_id],
  );
  return comment_id;
};

describe('POST /v1/board/posts/{id}/hide', () => {
  it('200 and again 200: the post is returned nowhere, and followers are told once', async () => {
    const post_id = await post();
    const listed = async () => JSON.stringify((await graph('{ boardPosts { postId } }', {})).body);
    expect(await listed()).toContain(post_id);
    for (let again = 0; again < 2; again++)
      expect((await hide(post_id, byOps)).body).toEqual({ post_id, hidden: true });
    expect(await listed()).not.toContain(post_id);
    expect(await postEvents(service, post_id)).toEqual(['post_hidden']);
  });

  it('200 of a comment on that post, 404 of another post’s or of none; 404 of a post that is none', async () => {
    const [post_id, other] = [await post(), await post()];
    const comment_id = await newComment(post_id);
    const hideComment = (at: string, comment: string, headers = {}) =>
      service.post(`/v1/board/posts/${at}/comments/${comment}/hide`, {}, headers);
    expect((await hideComment(post_id, comment_id)).status).toBe(401);
    expect((await hideComment(post_id, comment_id, { 'X-SVC-Board-Ops': inbound })).status).toBe(403);
    expect((await hideComment(other, comment_id, byOps)).status).toBe(404);
    expect((await hideComment(post_id, 'comment_none', byOps)).status).toBe(404);
    expect((await hideComment(post_id, comment_id, byOps)).body).toEqual({ post_id, comment_id, hidden: true });
    expect(await postEvents(service, post_id)).toEqual(['comment_hidden']);
    const rows = await service.query('select hidden from board_comment where comment_id = $1', [comment_id]);
    expect(rows).toEqual([{ hidden: true }]);
    expect(await hide('post_none', byOps)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('200 and again 200 of what is shown again: post, comment and job are where they were, and followers are told once', async () => {
    const post_id = await post();
    const comment_id = await newComment(post_id);
    const at = [`/v1/board/posts/${post_id}`, `/v1/board/posts/${post_id}/comments/${comment_id}`];
    const [of_post = '', of_comment = ''] = at;
    for (const path of at) {
      expect((await service.post(`${path}/hide`, {}, byOps)).body).toMatchObject({ hidden: true });
      for (const [status, headers] of [
        [401, {}],
        [403, { 'X-SVC-Board-Ops': inbound }],
      ] as const)
        expect((await service.post(`${path}/unhide`, {}, headers)).status).toBe(status);
    }
    expect((await service.get(of_post)).status).toBe(404);
    for (let again = 0; again < 2; again++) {
      expect((await service.post(`${of_post}/unhide`, {}, byOps)).body).toEqual({ post_id, hidden: false });
      expect((await service.post(`${of_comment}/unhide`, {}, byOps)).body).toEqual({
        post_id,
        comment_id,
        hidden: false,
      });
    }
    expect((await service.get(of_post)).status).toBe(200);
    expect((await service.get(`${of_post}/comments`)).text).toContain(comment_id);
    expect(await postEvents(service, post_id)).toEqual([
      'post_hidden',
      'comment_hidden',
      'post_unhidden',
      'comment_unhidden',
    ]);
    for (const none of ['/v1/board/posts/post_none', `${of_post}/comments/comment_none`])
      expect((await service.post(`${none}/unhide`, {}, byOps)).status).toBe(404);
    const query = `mutation { unhidePost(postId: "${post_id}") { hidden } }`;
    expect((await graph(query, byOps)).body.data).toEqual({ unhidePost: { hidden: false } });
  });

  it('by GraphQL with the same header', async () => {
    const post_id = await post();
    const comment_id = await newComment(post_id);
    const comment = `mutation { hideComment(postId: "${post_id}", commentId: "${comment_id}") { commentId hidden } }`;
    expect((await graph(comment, byOps)).body.data).toEqual({ hideComment: { commentId: comment_id, hidden: true } });
    const query = `mutation { hidePost(postId: "${post_id}") { hidden } }`;
    for (const [headers, code] of [
      [{}, 'unauthenticated'],
      [byInbound, 'unauthenticated'],
      [{ 'X-SVC-Session': agent.session }, 'unauthenticated'],
      [{ 'X-SVC-Board-Ops': `${ops}x` }, 'forbidden'],
      [{ ...byOps, 'X-API-Key': 'a-demo-key' }, 'forbidden'],
    ] as const)
      expect((await graph(query, headers)).body.errors?.[0]?.extensions.code).toBe(code);
    expect((await graph(query, byOps)).body.data).toEqual({ hidePost: { hidden: true } });
  });
});

describe('a secret of the board', () => {
  it('is wanted as it is: 401 without, 403 with a wrong one, both empty, and what else is shown makes up for nothing', async () => {
    const post_id = await post();
    const session = { 'X-SVC-Session': agent.session };
    const at_ops = [
      [401, {}],
      [401, { ...session, ...bearer(ops), ...byInbound }],
      [403, { 'X-SVC-Board-Ops': '' }],
      [403, { 'X-SVC-Board-Ops': inbound }],
      [403, { 'X-SVC-Board-Ops': ops.slice(0, -1) }],
      [403, { ...session, ...byInbound, 'X-SVC-Board-Ops': `${ops} ${ops}` }],
    ] as const;
    for (const [status, headers] of at_ops) {
      const answer = await hide(post_id, headers);
      expect([answer.status, answer.text, answer.headers.get('www-authenticate')]).toEqual([
        status,
        '',
        status === 401 ? 'SVC-Board-Ops' : null,
      ]);
    }
    const at_inbound = [
      [401, {}],
      [401, { ...session, ...byOps }],
      [403, bearer(ops)],
      [403, bearer('a-live-key')],
      [403, { ...bearer(inbound), 'X-SVC-Board-Inbound': 'wrong' }],
      [201, { ...bearer('wrong'), ...byInbound }],
      [201, bearer(inbound)],
    ] as const;
    for (const [status, headers] of at_inbound) {
      const answer = await service.post(INBOUND, completionReport(), headers);
      expect([answer.status, status === 201 || answer.text === '']).toEqual([status, true]);
    }
  });

  it('opens nothing else: no book, no paid call, no metrics, no door of the other', async () => {
    const secrets: Record<string, string>[] = [
      byOps,
      byInbound,
      bearer(ops),
      bearer(inbound),
      { 'X-API-Key': inbound },
      { 'X-SVC-Session': ops },
    ];
    for (const headers of secrets) {
      expect((await service.post(CHAT, ask(), headers)).status).toBeOneOf([402, 403]);
      expect((await service.get(`/v1/agents/${agent.agent_id}/book`, headers)).status).toBeOneOf([401, 403]);
    }
    const opened = everyDoor.filter(({ board_secret }) => board_secret !== 'none').map(({ path }) => path);
    const things = ['posts/{id}', 'posts/{id}/comments/{commentId}', 'jobs/{id}'];
    const hidden = ['hide', 'unhide'].flatMap(how => things.map(it => `/v1/board/${it}/${how}`));
    expect(opened).toEqual(['/v1/board/flags', ...hidden, INBOUND]);
  });

  it('is in no line of the log and in no column, and opens on a socket what it opens elsewhere', async () => {
    const post_id = await post();
    const socket = openSocket(service, { 'x-svc-board-ops': ops });
    const hidden = await socket.first(`mutation { hidePost(postId: "${post_id}") { hidden } }`);
    expect(hidden).toMatchObject({ data: { hidePost: { hidden: true } } });
    const last = randomUUID();
    await service.get('/v1/models', { 'x-request-id': last });
    await expect.poll(() => service.gateway.logs.join('\n')).toContain(last);
    const logs = service.gateway.logs.join('\n');
    for (const secret of [ops, inbound]) expect(logs).not.toContain(secret);
  });

  it('429: who shows wrong ones or none from one address is held up, and whoever shows the right one is not', async () => {
    const post_id = await post();
    const statuses: number[] = [];
    for (let at = 0; at < 44; at++)
      statuses.push((await hide(post_id, at % 2 ? {} : { 'X-SVC-Board-Ops': `wrong-${at}` })).status);
    expect(new Set(statuses)).toEqual(new Set([401, 403, 429]));
    const late = await hide(post_id, { 'X-SVC-Board-Ops': 'wrong' });
    expect(late).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect((await hide(post_id, {})).status).toBe(429);
    expect((await service.post(INBOUND, completionReport(), bearer('wrong'))).status).toBe(429);
    expect((await hide(post_id, byOps)).status).toBe(200);
  });
});
