import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { JsonObject } from '../../schema/canonical-json.ts';
import type { PolicySimulationNoun } from '../../schema/policy.ts';
import { POSTS } from '../harness/board/open-board-service.ts';
import { payingFetch, registrationOf } from '../harness/buyer.ts';
import { ask, openService, REGISTER, type Service } from '../harness/doors/open-service.ts';
import { taskOf } from '../harness/doors/tasks.ts';

type Simulation = z.infer<typeof PolicySimulationNoun>;
type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let agent: Agent;
/** An agent with a stamp, three chats and a task on its book, of 2,000 atomic units each. */
beforeAll(async () => {
  service = await openService({ DEMO_KEYS: 'a-demo-key' }, { mid_hour: true });
  agent = await service.newAgent();
  for (const model of ['alpha-1', 'beta-1', 'alpha-1']) await service.buy(agent.account, ask('Bought', { model }));
  const payment = await service.payment(agent.account, '/task-request');
  expect((await service.post('/task-request', taskOf(agent.account), payment)).status).toBe(200);
});

const path = (agent_id: number | string) => `/v1/agents/${agent_id}/book/policy/simulate`;
const simulate = (policy: JsonObject, members: JsonObject = {}, { agent_id, session } = agent) =>
  service.post<Simulation>(path(agent_id), { session, policy, ...members });

describe('POST /v1/agents/{agent_id}/book/policy/simulate', () => {
  it('200 with what a cap would have refused, one by one and in sums; what it refuses is not spent', async () => {
    const { status, body } = await simulate({ hourly_cap: '6000' });
    expect(status).toBe(200);
    const { rows, ...sums } = body;
    expect(sums).toEqual({
      agent_id: agent.agent_id,
      considered_count: 4,
      considered_amount: '8000',
      blocked_count: 2,
      blocked_amount: '4000',
      blocked_by: [{ policy_code: 'hourly_cap_exceeded', count: 2, amount: '4000' }],
      unknown_operation_count: 0,
      through_seq: 5,
      complete: true,
      cursor: null,
    });
    expect(rows.map(({ seq }) => seq)).toEqual([4, 5]);
    expect(rows[1]).toEqual({
      task_id: expect.stringMatching(/^task_/),
      seq: 5,
      collected_at: expect.any(String),
      amount: '2000',
      policy_code: 'hourly_cap_exceeded',
      policy_key: 'hourly_cap',
      spent_atomic: '6000',
      cap_atomic: '6000',
      period_start: expect.stringMatching(/:00:00\.000Z$/),
      reason: expect.stringContaining('2000 asked for is more than the hourly_cap of 6000'),
    });
  });

  it.each([
    [{ kill_switch: true }, ['kill_switch'], [2, 3, 4, 5]],
    [{ model_allowlist: ['beta-1'] }, ['model_not_allowed'], [2, 4, 5]],
    [{ budget: '8000', daily_cap: null }, ['budget_exhausted'], [5]],
    [{ tier2_above: '1999', approval_ttl: 9 }, ['tier2_approval_missing'], [2, 3, 4, 5]],
    [{ risk_tiers: { high: ['request_task'] } }, ['high_risk_approval_missing'], [5]],
    [{ require_payment_ref: true }, [], []],
  ] as const)('200 for %j: %j at %j', async (policy, codes, seqs) => {
    const { status, body } = await simulate(policy as unknown as JsonObject);
    expect([status, body.blocked_by.map(({ policy_code }) => policy_code)]).toEqual([200, codes]);
    expect(body.rows.map(({ seq }) => seq)).toEqual(seqs);
  });

  it('200 with a call by key: what looks at no amount would have refused it, and no cap', async () => {
    const buyer = await service.newAgent();
    const key = { 'X-API-Key': 'a-live-key', 'X-SVC-Session': buyer.session };
    expect((await service.post('/v1/chat/completions', ask('By key'), key)).status).toBe(200);
    for (const policy of ['require_payment_ref', 'kill_switch']) {
      const { body } = await simulate({ [policy]: true }, {}, buyer);
      expect(body).toMatchObject({
        considered_count: 1,
        considered_amount: '0',
        blocked_count: 1,
        blocked_amount: '0',
      });
      expect(body.rows).toMatchObject([{ seq: 2, amount: null, policy_code: policy }]);
    }
    expect((await simulate({ hourly_cap: '0' }, {}, buyer)).body).toMatchObject({ considered_count: 1, rows: [] });
  });

  it('200 with a stamp of the board as a call, and without the receipt that opened the book before there was one', async () => {
    const account = await service.chain.newWallet();
    const { task_id } = (await service.buy(account)).body.svc;
    const opened = await service.post<Agent>(REGISTER, await registrationOf(account, { task_id }));
    const author = { ...opened.body, account };
    const headers = { 'X-SVC-Session': author.session };
    const body = { endpoint: 'https://api.shop.example/x', outcome: 'success' };
    const posted = await service.knock('POST', POSTS, { body, headers, by: payingFetch(account) });
    expect(posted.status).toBe(201);
    const refusing: JsonObject[] = [{ kill_switch: true }, { budget: '3999' }, { tier2_above: '1999' }];
    for (const policy of refusing) {
      const { body } = await simulate(policy, {}, author);
      expect(body).toMatchObject({ considered_count: 1, considered_amount: '2000', unknown_operation_count: 0 });
      expect(body.rows).toMatchObject([{ seq: 2, amount: '2000' }]);
    }
    const passing = await simulate({ budget: '4000', model_allowlist: ['beta-1'] }, {}, author);
    expect(passing.body).toMatchObject({ considered_count: 1, blocked_count: 0 });
  });

  it('200 page by page, the sums growing; and of a time alone', async () => {
    const policy = { kill_switch: true };
    const first = (await simulate(policy, { limit: 3 })).body;
    expect(first).toMatchObject({ complete: false, blocked_count: 3, through_seq: 4 });
    const second = (await simulate(policy, { limit: 3, cursor: first.cursor })).body;
    expect(second).toMatchObject({ complete: true, cursor: null, blocked_count: 4, through_seq: 5 });
    expect(second.rows.map(({ seq }) => seq)).toEqual([5]);
    const [, , third] = first.rows;
    const time = { from: first.rows[1]?.collected_at ?? '', to: third?.collected_at ?? '' };
    const within = (await simulate(policy, { ...time, limit: 0 })).body;
    expect(within).toMatchObject({ rows: [], complete: true, considered_count: 1, blocked_count: 1 });
  });

  it('200 where a demo key comes along: nothing is written', async () => {
    const asked = { session: agent.session, policy: { kill_switch: true } };
    const heard = await service.post(path(agent.agent_id), asked, { 'X-API-Key': 'a-demo-key' });
    expect(heard.status).toBe(200);
    expect(
      (await service.get(`/v1/agents/${agent.agent_id}/book/policy`, { 'X-SVC-Session': agent.session })).body,
    ).toMatchObject({ kill_switch: null });
  });

  it.each([
    [{ policy: {} }, 'invalid_policy', 'policy'],
    [{ policy: { hourly_cap: null } }, 'invalid_policy', 'policy'],
    [{ policy: { weekly_cap: '1' } }, 'invalid_policy', 'policy.weekly_cap'],
    [{ policy: { hourly_cap: '-1' } }, 'invalid_policy', 'policy.hourly_cap'],
    [{ policy: { budget: 'much' } }, 'invalid_policy', 'policy.budget'],
    [{}, 'invalid_request', 'policy'],
    [{ policy: { kill_switch: true }, limit: -1 }, 'invalid_request', 'limit'],
    [{ policy: { kill_switch: true }, from: 'yesterday' }, 'invalid_request', 'from'],
    [{ policy: { kill_switch: true }, from: '2026-02-01', to: '2026-01-01' }, 'invalid_request', 'to'],
    [{ policy: { kill_switch: true }, cursor: 'made-up' }, 'invalid_request', 'cursor'],
    [{ policy: { kill_switch: true }, form: '2026-01-01' }, 'invalid_request', 'form'],
  ] as const)('400 for %j', async (members, code, param) => {
    const heard = await service.post(path(agent.agent_id), { session: agent.session, ...members });
    expect(heard).toMatchObject({ status: 400, body: { code, error: { code, param } } });
  });
});
