import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { beforeAll, describe, expect, it } from 'vitest';
import { approvalDoorsOf, walletAnswerTo } from '../harness/doors/approvals.ts';
import { ask, type Service, sharedService } from '../harness/doors/open-service.ts';
import { nowSeconds } from '../harness/session/delegate.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const { shown, list, newest, answer, cautious, callToApprove, decide, walletAnswer } = approvalDoorsOf(() => service);
const wrong = { status: 401, body: { code: 'control_proof_invalid' } };
const NOBODY = `approval_${'0'.repeat(26)}`;

describe('a call that is refused for want of an approval', () => {
  it('leaves a request on the book: who, what, how much, until when', async () => {
    const agent = await cautious({ approval_ttl: 600 });
    const { heard, request } = await callToApprove(agent, 'Leaves a request');
    expect(request).toMatchObject({
      agent_id: agent.agent_id,
      status: 'open',
      amount: '2000',
      payer: agent.account.address,
      delegation_hash: null,
      model: 'svc/auto',
      field: 'Mutation.createChatCompletion',
      doors: ['chat_completions', 'a2a_message'],
      policy_code: 'tier2_approval_missing',
      decided_by: null,
      decided_at: null,
      passes_until: null,
    });
    expect(Date.parse(request.open_until) - Date.parse(request.asked_at)).toBe(600_000);
    // The refusal does not name the request, and a second identical call adds no second request.
    expect(heard.text).not.toContain(request.approval_id);
    await callToApprove(agent, 'Leaves a request');
    expect(await list(agent)).toHaveLength(1);
    await callToApprove(agent, 'Another call');
    expect(await list(agent)).toHaveLength(2);
  });

  it('leaves none where a key stands in for its payment, or it is refused for another reason', async () => {
    const agent = await cautious({ risk_tiers: { high: ['chat_completions'], low: [] } });
    const key = { 'X-API-Key': 'a-live-key', ...shown(agent) };
    expect((await service.post('/v1/chat/completions', ask('By key'), key)).status).toBe(403);
    await service.post(`/v1/agents/${agent.agent_id}/book/policy`, {
      session: agent.session,
      policy_type: 'kill_switch',
      value: true,
    });
    expect((await service.buy(agent.account)).status).toBe(403);
    expect(await list(agent)).toEqual([]);
  });

  it('leaves at most 20 that are open', async () => {
    const agent = await cautious();
    // Each call has its own intent, because blocked calls of one kind get no row from the 21st on.
    for (let index = 0; index < 22; index++)
      await service.buy(agent.account, { ...ask(`Call ${index}`), intent_id: `intent-${index}` });
    expect(await list(agent)).toHaveLength(20);
  });
});

describe('POST /v1/agents/{agent_id}/book/approvals/{approval_id}', () => {
  it('200: the same call passes, by the same payment, once; what it was is told by its status', async () => {
    const agent = await cautious();
    const { request, send } = await callToApprove(agent, 'The same payment');
    expect(await decide(agent, request)).toMatchObject({ status: 'approved', decided_by: 'wallet' });
    const passed = await send();
    expect(passed.status).toBe(200);
    expect(await newest(agent)).toMatchObject({ approval_id: request.approval_id, status: 'passed' });
    // The payment that bought gets its answer again. Another payment for the same call is refused and creates a new request.
    const again = await send();
    expect([again.status, again.headers.get('x-svc-settlement-status')]).toEqual([200, 'idempotent_replay']);
    const { request: next } = await callToApprove(agent, 'The same payment');
    expect(next.approval_id).not.toBe(request.approval_id);
    expect(await service.transfersFrom(agent.account)).toHaveLength(2);
  });

  it('200: the same call passes by another payment; no other call does', async () => {
    const agent = await cautious();
    const { request } = await callToApprove(agent, 'Approved');
    await decide(agent, request);
    expect((await service.buy(agent.account, ask('Not approved'))).status).toBe(403);
    expect((await service.buy(agent.account, ask('Approved'))).status).toBe(200);
    expect((await service.buy(agent.account, ask('Approved'))).status).toBe(403);
  });

  it('200: not for another payer who lands on the same book', async () => {
    const [agent, other] = [await cautious(), await service.newAgent()];
    const { request } = await callToApprove(agent, 'Whose payment');
    await decide(agent, request);
    const payment = await service.payment(other.account, '/v1/chat/completions');
    const heard = await service.post('/v1/chat/completions', ask('Whose payment'), { ...payment, ...shown(agent) });
    expect(heard).toMatchObject({ status: 403, body: { code: 'approval_ttl_expired' } });
    expect((await service.buy(agent.account, ask('Whose payment'))).status).toBe(200);
  });

  it('200 deny: the call stays refused, and asks for nothing more in that time', async () => {
    const agent = await cautious();
    const { request, send } = await callToApprove(agent, 'Denied');
    expect(await decide(agent, request, 'deny')).toMatchObject({ status: 'denied', passes_until: null });
    expect((await send()).status).toBe(403);
    expect((await service.buy(agent.account, ask('Denied'))).status).toBe(403);
    expect((await list(agent)).map(({ status }) => status)).toEqual(['denied']);
  });

  it('200 deny: of another payer’s call on the same book it says nothing', async () => {
    const [agent, other] = [await cautious(), await service.newAgent()];
    const payment = await service.payment(other.account, '/v1/chat/completions');
    const theirs = await service.post('/v1/chat/completions', ask('Denied to one'), { ...payment, ...shown(agent) });
    expect(theirs).toMatchObject({ status: 403, body: { code: 'approval_ttl_expired' } });
    await decide(agent, await newest(agent), 'deny');
    const { request } = await callToApprove(agent, 'Denied to one');
    await decide(agent, request);
    expect((await service.buy(agent.account, ask('Denied to one'))).status).toBe(200);
    const again = await service.payment(other.account, '/v1/chat/completions');
    const heard = await service.post('/v1/chat/completions', ask('Denied to one'), { ...again, ...shown(agent) });
    expect([heard.status, (await list(agent)).map(({ status }) => status)]).toEqual([403, ['passed', 'denied']]);
  });

  it('200 again with the same answer, which stands as it stood; 409 approval_closed with the other', async () => {
    const agent = await cautious();
    const { request } = await callToApprove(agent, 'Answered twice');
    const first = await decide(agent, request);
    expect(await decide(agent, request)).toEqual(first);
    const deny = await walletAnswer(agent.account, request, 'deny');
    expect(await answer(agent, request.approval_id, deny)).toMatchObject({
      status: 409,
      body: { code: 'approval_closed', approval_status: 'approved' },
    });
    expect((await newest(agent)).status).toBe('approved');
  });

  it('409 approval_closed once its time is over, and the call asks anew', async () => {
    const agent = await cautious({ approval_ttl: 1 });
    const { request, send } = await callToApprove(agent, 'Late');
    await new Promise(later => setTimeout(later, 1_100));
    const signed = await walletAnswer(agent.account, request);
    expect(await answer(agent, request.approval_id, signed)).toMatchObject({
      status: 409,
      body: { code: 'approval_closed' },
    });
    expect((await send()).status).toBe(403);
    expect((await list(agent)).map(({ status }) => status)).toEqual(['expired']);
    await callToApprove(agent, 'Late');
    expect(await list(agent)).toHaveLength(2);
  });

  it('401 control_proof_invalid by another wallet, for another service, request, answer, hash or time', async () => {
    const agent = await cautious();
    const { request } = await callToApprove(agent, 'Signed otherwise');
    const { approval_id } = request;
    const stranger = privateKeyToAccount(generatePrivateKey());
    const signed = await walletAnswer(agent.account, request);
    const otherwise = [
      await walletAnswer(stranger, request),
      await walletAnswerTo('https://other.invalid', agent.account, request),
      await walletAnswer(agent.account, { ...request, approval_id: NOBODY }),
      await walletAnswer(agent.account, { ...request, request_hash: '0'.repeat(64) }),
      { ...signed, decision: 'deny' },
      { ...signed, signature_timestamp: signed.signature_timestamp - 1 },
      { ...signed, wallet_signature: '0x' },
      { ...signed, wallet_signature: `\u0000${'f'.repeat(1_000)}` },
      await walletAnswer(agent.account, request, 'approve', nowSeconds() - 400),
      await walletAnswer(agent.account, request, 'approve', nowSeconds() + 120),
    ];
    for (const body of otherwise) expect(await answer(agent, approval_id, body)).toMatchObject(wrong);
    expect((await newest(agent)).status).toBe('open');
  });

  it('400 by the session of the book alone, as whoever made the call holds it', async () => {
    const agent = await cautious();
    const { request } = await callToApprove(agent, 'By the session');
    const body = { decision: 'approve' };
    expect((await answer(agent, request.approval_id, body, shown(agent))).status).toBe(400);
    expect((await answer(agent, request.approval_id, { ...body, session: agent.session })).status).toBe(400);
    expect((await answer(agent, 'approval_\u0000', await walletAnswer(agent.account, request))).status).toBe(400);
  });

  it('404 for no request, and for that of another book, whoever signs', async () => {
    const [agent, other] = [await cautious(), await cautious()];
    const { request } = await callToApprove(agent, 'Of another book');
    expect(await answer(agent, NOBODY, await walletAnswer(agent.account, request))).toMatchObject({ status: 404 });
    for (const { account } of [agent, other])
      expect((await answer(other, request.approval_id, await walletAnswer(account, request))).status).toBe(404);
  });
});
