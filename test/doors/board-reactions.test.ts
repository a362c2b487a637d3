import { beforeAll, describe, expect, it } from 'vitest';
import { reactionLimits } from '../../schema/limits.ts';
import { bookProof, proofWindow } from '../../subgraphs/session/possession/proof.ts';
import { countsOf, insertPost, postEvents } from '../harness/doors/board-posts.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { ask, CHAT, type Service, sharedService } from '../harness/doors/open-service.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let author: Agent;
let reader: Agent;
let other: Agent;
/** Rows of the author's book: the one that the report cites, and the stamp that paid for the report. */
let cited: string;
let stamp: string;
beforeAll(async () => {
  service = await sharedService();
  [author, reader, other] = [await service.newAgent(), await service.newAgent(), await service.newAgent()];
  [cited, stamp] = [await bought(author), await bought(author)];
});

const shows = ({ session }: Pick<Agent, 'session'>) => ({ 'X-SVC-Session': session });
/** Buys a chat by that wallet on that agent's book. Returns its task. */
const bought = async ({ session, account }: Agent, payer: Pick<Agent, 'account'> = { account }) => {
  const { body } = await service.buy(payer.account, ask(`${Math.random()}`), { 'X-SVC-Session': session });
  return body.svc.task_id;
};
const report = (members: object = {}) =>
  insertPost(service, { agent_id: author.agent_id, receipt_ref: cited, stamp_task_id: stamp, ...members });
const like = (post_id: string, headers: Readonly<Record<string, string>>, body: unknown = {}) =>
  service.post(`/v1/board/posts/${post_id}/like`, body, headers);
const confirm = (post_id: string, receipt_ref: unknown, headers: Readonly<Record<string, string>>) =>
  service.post(`/v1/board/posts/${post_id}/confirms`, { receipt_ref }, headers);
const graph = (query: string, headers: Readonly<Record<string, string>>) => onGraph(service, query, {}, headers);

describe('POST /v1/board/posts/{id}/like', () => {
  it('200: toggles, one for each agent, and tells of a post once in a minute', async () => {
    const post_id = await report();
    expect((await like(post_id, shows(reader))).body).toEqual({ post_id, liked: true, like_count: 1 });
    expect((await like(post_id, shows(other))).body).toEqual({ post_id, liked: true, like_count: 2 });
    expect((await like(post_id, shows(reader))).body).toEqual({ post_id, liked: false, like_count: 1 });
    expect((await like(post_id, shows(reader))).body).toEqual({ post_id, liked: true, like_count: 2 });
    expect(await postEvents(service, post_id)).toEqual(['post_liked']);
    await service.query(`update board_like_told set told_at = told_at - interval '61 seconds'`);
    await like(post_id, shows(author));
    expect(await postEvents(service, post_id)).toEqual(['post_liked', 'post_liked']);
    expect(await countsOf(service, post_id)).toMatchObject({ like_count: 3 });
  });

  it('200 by a proof that names its agent in the body, and by GraphQL', async () => {
    const post_id = await report();
    const proof = bookProof(reader.session, reader.agent_id, proofWindow(Date.now()));
    const { status, body } = await like(post_id, {}, { proof, agent_id: reader.agent_id });
    expect([status, body]).toEqual([200, { post_id, liked: true, like_count: 1 }]);
    const mutation = `mutation { toggleLike(postId: "${post_id}") { liked likeCount } }`;
    expect((await graph(mutation, shows(reader))).body.data).toEqual({ toggleLike: { liked: false, likeCount: 0 } });
  });

  it('many toggles at once leave the count that the rows have', async () => {
    const post_id = await report();
    const agents = [reader, other, author];
    const answers = await Promise.all(
      Array.from({ length: 15 }, (_, at) => like(post_id, shows(agents[at % 3] ?? reader))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    // Each of the three agents likes the post in the end, after five requests of each.
    expect(await countsOf(service, post_id)).toMatchObject({ like_count: 3 });
    expect(await service.query('select 1 from board_like where post_id = $1', [post_id])).toHaveLength(3);
  });

  it('401 without possession, 403 with a wrong one or a demo key, 400 of a body with more', async () => {
    const post_id = await report();
    expect((await like(post_id, {})).status).toBe(401);
    expect((await like(post_id, { 'X-SVC-Session': 'svcs_wrong' })).status).toBe(403);
    expect((await like(post_id, { ...shows(reader), 'X-API-Key': 'a-demo-key' })).status).toBe(403);
    expect((await like(post_id, shows(reader), { twice: true })).status).toBe(400);
    expect(await countsOf(service, post_id)).toMatchObject({ like_count: 0 });
  });

  it('404 of a post that there is none of, or that is hidden; 409 of one that was taken down', async () => {
    const [hidden, down] = [await report(), await report()];
    await service.query('update board_post set hidden = true where post_id = $1', [hidden]);
    await service.query('update board_post set taken_down_at = now() where post_id = $1', [down]);
    for (const post_id of ['post_none', hidden])
      expect(await like(post_id, shows(reader))).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await like(down, shows(reader))).toMatchObject({ status: 409, body: { code: 'post_taken_down' } });
  });

  it('400 where several books are held and none is named; 429 once the hour has no more', async () => {
    const post_id = await report();
    const both = { 'X-SVC-Session': `${reader.session},${other.session}` };
    expect(await like(post_id, both)).toMatchObject({ status: 400, body: { code: 'book_not_named' } });
    expect((await like(post_id, both, { agent_id: other.agent_id })).status).toBe(200);
    const { likes_per_agent_hour_max: max } = reactionLimits;
    await service.query('update board_use set uses = $1 where holder = $2', [max, `like:${other.agent_id}`]);
    const full = await like(post_id, shows(other));
    expect(full).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(Number(full.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await like(post_id, shows(reader))).status).toBe(200);
  });
});

it('what is refused counts as what is done: 429 once the hour has no more', async () => {
  const used = async (kind: string) => {
    const holder = `${kind}:${author.agent_id}`;
    const [row] = await service.query<{ uses: number }>('select uses from board_use where holder = $1', [holder]);
    return row?.uses ?? 0;
  };
  const before = { like: await used('like'), confirm: await used('confirm') };
  for (let at = 0; at < 3; at++) expect((await like('post_none', shows(author))).status).toBe(404);
  for (let at = 0; at < 3; at++) expect((await confirm('post_none', 'task_none', shows(author))).status).toBe(404);
  expect({ like: await used('like'), confirm: await used('confirm') }).toEqual({
    like: before.like + 3,
    confirm: before.confirm + 3,
  });
  await service.query('update board_use set uses = 1000000 where holder = any($1)', [
    [`like:${author.agent_id}`, `confirm:${author.agent_id}`],
  ]);
  for (const { status } of [
    await like('post_none', shows(author)),
    await confirm('post_none', 'task_none', shows(author)),
  ])
    expect(status).toBe(429);
  await service.query('delete from board_use where holder = any($1)', [
    [`like:${author.agent_id}`, `confirm:${author.agent_id}`],
  ]);
});

describe('POST /v1/board/posts/{id}/confirms', () => {
  it('201, and 200 for the same again; the receipt is published nowhere', async () => {
    const post_id = await report();
    const receipt = await bought(reader);
    const first = await confirm(post_id, receipt, shows(reader));
    expect([first.status, first.body]).toEqual([201, { post_id, confirm_count: 1, idempotent_replay: false }]);
    const again = await confirm(post_id, receipt, shows(reader));
    expect([again.status, again.body]).toEqual([200, { post_id, confirm_count: 1, idempotent_replay: true }]);
    expect(await postEvents(service, post_id)).toEqual(['post_confirmed']);
    const shown = await graph('{ boardPosts { postId confirmCount verifyUrl } }', {});
    expect(JSON.stringify(shown.body)).toContain('"confirmCount":1');
    expect(JSON.stringify(shown.body)).not.toContain(receipt);
  });

  it('409 already_confirmed: one for each agent and report, whatever receipts it has', async () => {
    const post_id = await report();
    await confirm(post_id, await bought(reader), shows(reader));
    const more = await confirm(post_id, await bought(reader), shows(reader));
    expect(more).toMatchObject({ status: 409, body: { code: 'already_confirmed' } });
  });

  it('409 receipt_backs_another: of many at once one confirms by a receipt, and a post that cites it holds it', async () => {
    const receipt = await bought(reader);
    const posts = await Promise.all(Array.from({ length: 4 }, () => report()));
    const answers = await Promise.all(posts.map(post_id => confirm(post_id, receipt, shows(reader))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    expect(answers.flatMap(({ body }) => body.code ?? [])).toEqual(Array(3).fill('receipt_backs_another'));
    const held = await bought(reader);
    await service.query('insert into claim_slot (slot, claim_key) values ($1, $2)', [`backs:${held}`, 'a stamp']);
    expect((await confirm(await report(), held, shows(reader))).body.code).toBe('receipt_backs_another');
  });

  it('409 self_confirm of an own report; 409 related_confirm by money of whoever paid for it or for what it cites', async () => {
    expect((await confirm(await report(), await bought(author), shows(author))).body.code).toBe('self_confirm');
    const related = await bought(reader, author);
    for (const post_id of [
      await report(),
      await report({ receipt_ref: null }),
      await report({ stamp_task_id: 'none' }),
      // The check of the confirming agent comes before the check of the receipt's host.
      await report({ endpoint_host: 'elsewhere.example' }),
    ])
      expect(await confirm(post_id, related, shows(reader))).toMatchObject({
        status: 409,
        body: { code: 'related_confirm' },
      });
  });

  it('403 of a receipt that is on no book of the confirmer, was paid by a key, or is of another host', async () => {
    const post_id = await report();
    const keyed = await service.post<{ svc: { task_id: string } }>(CHAT, ask(), {
      ...shows(reader),
      authorization: 'Bearer a-live-key',
    });
    const refused = async (at: string, receipt: string) => {
      const { status, body } = await confirm(at, receipt, shows(reader));
      return [status, body.code];
    };
    expect(await refused(post_id, cited)).toEqual([403, 'receipt_not_on_book']);
    expect(await refused(post_id, 'task_none')).toEqual([403, 'receipt_not_on_book']);
    expect(await refused(post_id, keyed.body.svc.task_id)).toEqual([403, 'receipt_not_qualifying']);
    const elsewhere = await report({ endpoint_host: 'elsewhere.example' });
    expect(await refused(elsewhere, await bought(reader))).toEqual([403, 'receipt_host_differs']);
    expect(await countsOf(service, post_id)).toMatchObject({ confirm_count: 0 });
  });

  it('201 by GraphQL; 400, 401, 403, 404, 409 and 429 as anywhere', async () => {
    const [post_id, receipt] = [await report(), await bought(other)];
    const mutation = `mutation { confirmPost(postId: "${post_id}", receiptRef: "${receipt}") { confirmCount idempotentReplay } }`;
    expect((await graph(mutation, {})).body.errors?.[0]?.extensions.code).toBe('unauthenticated');
    expect((await graph(mutation, shows(other))).body.data).toEqual({
      confirmPost: { confirmCount: 1, idempotentReplay: false },
    });
    expect((await confirm(post_id, '', shows(other))).status).toBe(400);
    expect((await confirm(post_id, 7, shows(other))).status).toBe(400);
    expect((await confirm(post_id, receipt, {})).status).toBe(401);
    expect((await confirm(post_id, receipt, { 'X-SVC-Session': 'svcs_wrong' })).status).toBe(403);
    expect((await confirm('post_none', receipt, shows(other))).status).toBe(404);
    await service.query('update board_post set taken_down_at = now() where post_id = $1', [post_id]);
    expect((await confirm(post_id, receipt, shows(other))).body.code).toBe('post_taken_down');
    const { confirms_per_agent_hour_max: max } = reactionLimits;
    await service.query('update board_use set uses = $1 where holder = $2', [max, `confirm:${other.agent_id}`]);
    expect((await confirm(await report(), receipt, shows(other))).status).toBe(429);
  });
});
