import { beforeAll, describe, expect, it } from 'vitest';
import { verifyRefusal } from '../../subgraphs/receipt/verify/refusal.ts';
import { ask, CHAT, type Service, sharedService } from '../harness/doors/open-service.ts';
import { policyDoorsOf, type Refusal } from '../harness/doors/policies.ts';

let service: Service;
let book: ReturnType<typeof policyDoorsOf>;
beforeAll(async () => {
  service = await sharedService();
  book = policyDoorsOf(service);
});

describe('a charge above tier2_above', () => {
  it('403 approval_ttl_expired, signed: nothing is charged, and GET /refusal/{id} shows it', async () => {
    const agent = await service.newAgent();
    await book.set(agent, 'tier2_above', '1999');
    const asked = service.hubs[0].requests.length;
    const { heard } = await book.chatToRefusal(agent);
    expect(heard.body).toMatchObject({
      code: 'approval_ttl_expired',
      refusal_code: 'approval_ttl_expired',
      policy_code: 'tier2_approval_missing',
      requested_amount: '2000',
      charged: false,
    });
    const shown = await service.get<Refusal>(`/refusal/${heard.body.refusal_id}`);
    expect(shown).toMatchObject({ status: 200, body: { refusal_code: 'approval_ttl_expired' } });
    expect(verifyRefusal(shown.body, await service.jwks())).toMatchObject({ kind: 'valid' });
    // The value that the owner has set is not revealed.
    expect(shown.text).not.toContain('1999');
    expect(service.hubs[0].requests.length).toBe(asked);
    expect(await service.transfersFrom(agent.account)).toHaveLength(1);
    const { entries, totals } = await book.bookOf(agent);
    expect(entries[0]).toMatchObject({
      evidence: 'policy_blocked',
      policy_code: 'tier2_approval_missing',
      cap_atomic: '1999',
      spent_atomic: '2000',
    });
    expect(totals).toMatchObject({ count: 1 });
  });

  it('200 at the amount itself, and by key, which asks for none', async () => {
    const agent = await service.newAgent();
    await book.set(agent, 'tier2_above', '2000');
    expect((await service.buy(agent.account)).status).toBe(200);
    await book.set(agent, 'tier2_above', '0');
    const key = { 'X-API-Key': 'a-live-key', 'X-SVC-Session': agent.session };
    expect((await service.post(CHAT, ask('By key'), key)).status).toBe(200);
  });
});

describe('an operation that risk_tiers has as high', () => {
  it('403 at any amount, by its door, by the other door of the same field and by key; others pass', async () => {
    const agent = await service.newAgent();
    await book.set(agent, 'risk_tiers', { high: ['chat_completions'], low: ['create_response'] });
    const high = { refusal_code: 'approval_ttl_expired', policy_code: 'high_risk_approval_missing', charged: false };
    expect((await book.chatToRefusal(agent)).heard.body).toMatchObject(high);
    const a2a = await service.payment(agent.account, '/a2a-message');
    expect(await service.post('/a2a-message', ask('Message'), a2a)).toMatchObject({ status: 403, body: high });
    const key = { 'X-API-Key': 'a-live-key', 'X-SVC-Session': agent.session };
    expect(await service.post(CHAT, ask('By key'), key)).toMatchObject({ status: 403, body: high });
    const response = await service.payment(agent.account, '/v1/responses');
    expect((await service.post('/v1/responses', { input: 'Hello' }, response)).status).toBe(200);
    await book.set(agent, 'risk_tiers', null);
    expect((await service.buy(agent.account)).status).toBe(200);
  });
});

describe('GET /v1/agents/{agent_id}/book/approvals', () => {
  it('200, newest first, 200 of a page, which says where the next begins', async () => {
    const agent = await service.newAgent();
    const path = `/v1/agents/${agent.agent_id}/book/approvals`;
    const list = async (query = '') => {
      const { status, body } = await service.get<{ approvals: { approval_id: string }[]; next: string | null }>(
        path + query,
        { 'X-SVC-Session': agent.session },
      );
      expect(status).toBe(200);
      return [body.approvals.map(({ approval_id }) => approval_id), body.next];
    };
    expect(await list()).toEqual([[], null]);
    const prefix = `approval_${String(agent.agent_id).padStart(20, '0')}`;
    await service.query(
      `insert into approval_request (approval_id, agent_id, request_hash, amount_atomic, payer, field, seq, task_id,
          policy_code, asked_at, open_until)
        select $2 || lpad(n::text, 6, '0'), $1, repeat('a', 64), 2000, $3, 'Mutation.createChatCompletion', 1, 'task_x',
          'tier2_approval_missing', now() - interval '2 days', now() - interval '1 day' from generate_series(1, 201) n`,
      [agent.agent_id, prefix, agent.account.address],
    );
    const named = (n: number) => prefix + String(n).padStart(6, '0');
    const newest = Array.from({ length: 200 }, (_, at) => named(201 - at));
    expect(await list()).toEqual([newest, named(2)]);
    expect(await list(`?before=${named(2)}`)).toEqual([[named(1)], null]);
    expect(await list(`?before=${named(201)}`)).toEqual([[...newest.slice(1), named(1)], null]);
    const refused = await service.get(`${path}?before=x`, { 'X-SVC-Session': agent.session });
    expect(refused).toMatchObject({ status: 400, body: { error: { param: 'before' } } });
  });
});
