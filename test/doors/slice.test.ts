import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { sliceToken } from '../../schema/slice-token.ts';
import { verifyInflowClaim } from '../../subgraphs/receipt/verify/inflow-claim.ts';
import { assignDoorsOf, bearerOf } from '../harness/doors/assignments.ts';
import { inflowDoorsOf } from '../harness/doors/inflows.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let agent: Agent;
beforeAll(async () => {
  service = await sharedService();
  agent = await service.newAgent();
  await record(agent, { allocation: '5', task_id: 'slice-1' });
  await record(agent, { allocation: '6', task_id: 'slice-2' });
});

const { tokenOf, revoke, slice, collect, expire } = assignDoorsOf(() => service);
const { record, entries } = inflowDoorsOf(() => service);
const SLICE = '/v1/book/slice';
const tasks = (read: { readonly body: { readonly entries: readonly { readonly task_id?: unknown }[] } }) =>
  read.body.entries.map(({ task_id }) => task_id);

describe('GET /v1/book/slice', () => {
  it('200 with the rows as the book has them, and nothing else of it, by the query as by a bearer', async () => {
    const { token } = await tokenOf(agent, { grantee: 'g' });
    const read = await service.get<JsonObject>(`${SLICE}?token=${token}`);
    expect(read.status).toBe(200);
    expect(read.body).toEqual({
      agent_id: agent.agent_id,
      grant_type: 'read',
      slice: { from_date: null, to_date: null, task_ids: null, limit: null },
      entries: await entries(agent),
      next: null,
    });
    expect((await slice(token)).body).toEqual(read.body);
    expect(read.headers.get('cache-control')).toBe('no-store');
    expect(read.headers.get('referrer-policy')).toBe('no-referrer');
    expect(read.headers.get('content-encoding')).toBeNull();
  });

  it('200 with those tasks, those times and no more than so many alone, page by page', async () => {
    const first = (await entries(agent)).find(({ seq }) => seq === 1);
    const two = await tokenOf(agent, { slice: { task_ids: ['slice-1', first?.task_id as string, 'none'] } });
    expect(tasks(await slice(two.token))).toEqual(['slice-1', first?.task_id]);
    const page = await slice(two.token, '?limit=1');
    expect([tasks(page), page.body.next]).toEqual([['slice-1'], 2]);
    expect((await slice(two.token, `?limit=1&before=${page.body.next}`)).body.next).toBeNull();
    expect(tasks(await slice(two.token, '?before=2'))).toEqual([first?.task_id]);
    const newest = await tokenOf(agent, { slice: { limit: 2 } });
    const bounded = await slice(newest.token, '?limit=2');
    expect([tasks(bounded), bounded.body.next]).toEqual([['slice-2', 'slice-1'], null]);
    expect(tasks(await slice(newest.token, '?before=2&limit=200'))).toEqual([]);
    const past = await tokenOf(agent, { slice: { to_date: '2020-01-01' } });
    expect(tasks(await slice(past.token))).toEqual([]);
  });

  it('200 of a refused call without the sums and ceilings of the book', async () => {
    const capped = await service.newAgent();
    const shop = policyDoorsOf(service);
    await shop.setBudget(capped, '2001');
    const { heard } = await shop.chatToRefusal(capped);
    const [refused] = await entries(capped);
    expect(refused).toMatchObject({ evidence: 'policy_blocked', cap_atomic: '2001', reason: expect.any(String) });
    const { token } = await tokenOf(capped);
    const { body, text } = await slice(token);
    const { reason: _, cap_atomic: __, spent_atomic: ___, ...shown } = refused as JsonObject;
    expect(body.entries[0]).toEqual(shown);
    expect(heard.status).toBe(403);
    expect(text).not.toContain('2001');
    // The hash is left out because it covers the hidden members: a reader could try sums and caps until one fits.
    const ROWS = 'entries { evidence rowHash prevRowHash spentAtomic capAtomic reason policyKey periodStart }';
    const query = `{ bookSlice { ${ROWS} } }`;
    const graph = await service.post<{ data: { bookSlice: { entries: JsonObject[] } } }>(
      '/graphql',
      { query },
      bearerOf(token),
    );
    const nothing = { spentAtomic: null, capAtomic: null, reason: null, policyKey: null, periodStart: null };
    expect(graph.body.data.bookSlice.entries).toEqual([
      { evidence: 'policy_blocked', rowHash: '', prevRowHash: '', ...nothing },
      { evidence: 'collected', rowHash: '', prevRowHash: '', ...nothing },
    ]);
  });

  it('400 on a page that is none, with its name, and on a member that is not known', async () => {
    const { token } = await tokenOf(agent);
    for (const [query, param] of [
      ['?limit=0', 'limit'],
      ['?before=x', 'before'],
      ['?from=2026-01-01', 'from'],
    ] as const)
      expect(await slice(token, query)).toMatchObject({ status: 400, body: { error: { param } } });
  });

  it('401 without a token: a session, a key or an empty token is none', async () => {
    for (const [query, headers] of [
      ['', {}],
      ['?token=', {}],
      ['', { 'X-SVC-Session': agent.session }],
      ['', { 'X-API-Key': 'a-live-key' }],
      ['?limit=0', {}],
    ] as const) {
      const heard = await service.get(SLICE + query, headers);
      expect(heard).toMatchObject({ status: 401, body: { code: 'token_required' } });
      expect(heard.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  it('403, all alike, with one that was never given, is misspelt, has expired or was revoked, and with a session as one', async () => {
    const [expired, revoked] = [await tokenOf(agent), await tokenOf(agent)];
    await expire(expired.assignment_id);
    await revoke(agent, revoked.assignment_id);
    const never = sliceToken(new Uint8Array(32));
    const answers = await Promise.all(
      [expired.token, revoked.token, never, `${never}0`, 'guess', agent.session].flatMap(token => [
        service.get(SLICE, bearerOf(token)),
        service.get(`${SLICE}?token=${token}`),
      ]),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.body).toMatchObject({ code: 'token_invalid' });
    for (const { headers } of answers) expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  it('503 of a book that its audit has closed', async () => {
    const closed = await service.newAgent();
    const { token } = await tokenOf(closed);
    await service.query(`update book set damage = '{}' where agent_id = $1`, [closed.agent_id]);
    expect(await slice(token)).toMatchObject({ status: 503, body: { code: 'book_damaged' } });
    await service.query('update book set damage = null where agent_id = $1', [closed.agent_id]);
  });
});

describe('POST /v1/agents/{agent_id}/book/inflow with a token that collects', () => {
  it('201: the row, and a claim that says by whose token it came', async () => {
    const { token, assignment_id } = await tokenOf(agent, { grant_type: 'collect', grantee: 'A collector' });
    const { status, body } = await collect(agent, token, { allocation: '7', bucket: 'tips', task_id: 'collected-1' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ evidence: 'inflow_claimed', task_id: 'collected-1', bucket: 'tips', allocation: '7' });
    expect(body.inflow_claim).toMatchObject({ recorded_by: { assignment_id, grantee: 'A collector' } });
    const jwks = (await service.get('/.well-known/jwks.json')).body;
    expect(verifyInflowClaim(body.inflow_claim ?? {}, jwks)).toMatchObject({ kind: 'valid' });
    expect((await entries(agent))[0]).toEqual(body);
    expect((await slice(token)).body).toMatchObject({ grant_type: 'collect', entries: await entries(agent) });
    expect((await record(agent, { allocation: '7' })).body.inflow_claim).not.toHaveProperty('recorded_by');
  });

  it('403 outside of the slice, with the bound, and nothing is written', async () => {
    const rows = (await entries(agent)).length;
    for (const [bounds, body, bound] of [
      [{ task_ids: ['one', 'two'] }, { task_id: 'three' }, 'task_ids'],
      [{ task_ids: ['one', 'two'] }, {}, 'task_ids'],
      [{ to_date: '2020-01-01' }, {}, 'to_date'],
      [{ from_date: '2999-01-01' }, {}, 'from_date'],
    ] as const) {
      const { token } = await tokenOf(agent, { grant_type: 'collect', slice: bounds as unknown as JsonObject });
      expect(await collect(agent, token, { allocation: '1', ...body })).toMatchObject({
        status: 403,
        body: { code: 'slice_exceeded', bound },
      });
    }
    expect(await entries(agent)).toHaveLength(rows);
    const { token } = await tokenOf(agent, { grant_type: 'collect', slice: { task_ids: ['one', 'two'] } });
    expect((await collect(agent, token, { allocation: '1', task_id: 'two' })).status).toBe(201);
    expect(await collect(agent, token, { allocation: '1', task_id: 'two' })).toMatchObject({
      status: 409,
      body: { code: 'duplicate_task' },
    });
  });

  it('403, empty: a token that reads alone, of another book, expired, revoked or misspelt, and beside a demo key', async () => {
    const other = await service.newAgent();
    const [expired, revoked] = [
      await tokenOf(agent, { grant_type: 'collect' }),
      await tokenOf(agent, { grant_type: 'collect' }),
    ];
    await expire(expired.assignment_id);
    await revoke(agent, revoked.assignment_id);
    const rows = (await entries(agent)).length;
    for (const token of [
      (await tokenOf(agent)).token,
      (await tokenOf(other, { grant_type: 'collect' })).token,
      expired.token,
      revoked.token,
      'svca_guess',
    ])
      expect(await collect(agent, token, { allocation: '1' })).toMatchObject({ status: 403, text: '' });
    const { token } = await tokenOf(agent, { grant_type: 'collect' });
    const path = `/v1/agents/${agent.agent_id}/book/inflow`;
    const demo = { ...bearerOf(token), 'X-API-Key': 'a-demo-key' };
    expect(await service.post(path, { allocation: '1' }, demo)).toMatchObject({ status: 403, text: '' });
    expect(await entries(agent)).toHaveLength(rows);
  });

  it('403, empty, with a wrong session beside it; with the right one it is the owner who records', async () => {
    const { token } = await tokenOf(agent, { grant_type: 'collect', slice: { task_ids: ['only'] } });
    expect(await collect(agent, token, { allocation: '1', session: 'wrong' })).toMatchObject({ status: 403, text: '' });
    const own = await collect(agent, token, { allocation: '1', session: agent.session });
    expect(own.status).toBe(201);
    expect(own.body.inflow_claim).not.toHaveProperty('recorded_by');
  });

  it('401, empty, with a token in the query: at this door it is none', async () => {
    const { token } = await tokenOf(agent, { grant_type: 'collect' });
    const path = `/v1/agents/${agent.agent_id}/book/inflow?token=${token}`;
    expect(await service.post(path, { allocation: '1' })).toMatchObject({ status: 401, text: '' });
  });
});
