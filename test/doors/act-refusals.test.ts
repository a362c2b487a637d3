import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../schema/limits.ts';
import { approvalDoorsOf } from '../harness/doors/approvals.ts';
import { ask, openService, type Service } from '../harness/doors/open-service.ts';
import { policyDoorsOf, type RefusedCallBody } from '../harness/doors/policies.ts';
import { type DelegatedSession, delegate, signAct } from '../harness/session/delegate.ts';
import { newKey } from '../harness/session/trees.ts';

let service: Service;
beforeAll(async () => {
  service = await openService({}, { mid_hour: true });
});

const { callToApprove } = approvalDoorsOf(() => service);

/** A session, with the book of its payer, on which reading is an act of high risk. */
async function cautious() {
  const agent = await service.newAgent();
  const session = await delegate(agent.account, agent.account, newKey());
  expect((await service.buy(agent.account, ask('Binds'), session.headers)).status).toBe(200);
  await policyDoorsOf(service).set(agent, 'risk_tiers', { high: ['read_private'], low: [] });
  return { agent, session };
}

const reading = { action: 'read_private', resource: 'book' };
const send = ({ delegation_hash }: DelegatedSession, body: object) =>
  service.post<RefusedCallBody>(`/v1/sessions/${delegation_hash}/act`, body);

describe('POST /v1/sessions/{delegation_hash}/act, of an act that the book of its payer refuses', () => {
  it('403 with the signed refusal, as of a call: its row, its page and its code; nothing is done', async () => {
    const { agent, session } = await cautious();
    const heard = await send(session, await signAct(session, reading));
    const { body } = heard;
    expect(body).toMatchObject({
      schema: 'svc402.refusal.v1',
      code: 'approval_ttl_expired',
      refusal_code: 'approval_ttl_expired',
      policy_code: 'high_risk_approval_missing',
      agent_id: agent.agent_id,
      charged: false,
      issuer_signature: { alg: 'ES256' },
      error: { code: 'approval_ttl_expired' },
    });
    expect(heard.status).toBe(403);
    expect(heard.headers.get('x-svc-refusal-url')).toBe(body.refusal_url);
    const { text } = await service.get(`/refusal/${body.refusal_id}.json`);
    expect(JSON.parse(text)).toMatchObject({
      refusal_id: body.refusal_id,
      policy_blocked_seq: body.policy_blocked_seq,
    });
    const { entries } = await policyDoorsOf(service).bookOf(agent);
    expect(entries.find(({ evidence }) => evidence === 'policy_blocked')).toMatchObject({
      task_id: body.task_id,
      policy_code: 'high_risk_approval_missing',
      collected: false,
    });
  });

  it('403 with the same one for the same act; 200 once its book lets it pass, or with a challenge', async () => {
    const { agent, session } = await cautious();
    const act = await signAct(session, reading);
    const [first, again] = [await send(session, act), await send(session, act)];
    expect([again.status, again.body.refusal_id]).toEqual([403, first.body.refusal_id]);
    const { body } = await service.post<{ challenge_id: string; nonce: string; deadline: number }>(
      `/v1/sessions/${session.delegation_hash}/challenge`,
      {},
    );
    const { challenge_id, nonce, deadline } = body;
    expect((await send(session, await signAct(session, { ...reading, challenge_id, nonce, deadline }))).status).toBe(
      200,
    );
    await policyDoorsOf(service).set(agent, 'risk_tiers', null);
    expect((await send(session, act)).status).toBe(200);
  });

  it('429 blocked_too_often beyond so many in an hour, with the last one’s URL; calls have their rows, and people are asked', async () => {
    const { agent, session } = await cautious();
    await policyDoorsOf(service).set(agent, 'risk_tiers', { high: ['read_private', 'chat_completions'], low: [] });
    let last = '';
    for (let count = 0; count < limits.blocked_rows_per_hour_max; count++)
      last = (await send(session, await signAct(session, reading))).body.refusal_url;
    const refused = await send(session, await signAct(session, reading));
    expect(refused).toMatchObject({ status: 429, body: { code: 'blocked_too_often', last_refusal_url: last } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const { request } = await callToApprove(agent, 'Behind so many acts');
    expect(request).toMatchObject({ status: 'open', policy_code: 'high_risk_approval_missing' });
  });
});
