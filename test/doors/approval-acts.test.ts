import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { approvalDoorsOf } from '../harness/doors/approvals.ts';
import { ask, type Service, sharedService } from '../harness/doors/open-service.ts';
import { type DelegatedSession, delegate, nowSeconds, signRevocation } from '../harness/session/delegate.ts';
import { familiesOf } from '../harness/session/families.ts';
import { below, newKey } from '../harness/session/trees.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const { newest, list, cautious, callToApprove } = approvalDoorsOf(() => service);
const { act, overseen, family } = familiesOf(() => service);
const narrower = (session: DelegatedSession) => ({ ...below(session), capAtomic: '500000' });

describe('an act `approve` of a call', () => {
  it('200 by the session over it: the same call passes, once, under that session alone', async () => {
    const { worker, parent, child, call, resource } = await family('Approved by its parent');
    expect(call.request).toMatchObject({ delegation_hash: child.delegation_hash, status: 'open' });
    const { body, heard } = await act(parent, resource);
    const { approval_id, agent_id, request_hash } = call.request;
    expect(heard).toMatchObject({
      status: 200,
      body: { action: 'approve', resource, approved: { approval_id, agent_id, request_hash } },
    });
    expect(await newest(worker)).toMatchObject({ approval_id, status: 'approved', decided_by: 'act' });
    const [told] = await service.query<{ body: JsonObject }>(
      `select body from book_event where agent_id = $1 and kind = 'approval' order by position desc limit 1`,
      [agent_id],
    );
    expect(told?.body).toMatchObject({ approval_id, request_hash, status: 'approved', decided_by: 'act' });
    // Without the grant, or under another one, it is a different call.
    expect((await service.buy(worker.account, ask('Approved by its parent'))).status).toBe(403);
    const sibling = await delegate(parent.agent, worker.account, newKey(), narrower(parent));
    expect((await service.buy(worker.account, ask('Approved by its parent'), sibling.headers)).status).toBe(403);
    expect((await call.send()).status).toBe(200);
    expect((await service.buy(worker.account, ask('Approved by its parent'), child.headers)).status).toBe(403);
    const replayed = await service.post(`/v1/sessions/${parent.delegation_hash}/act`, body);
    expect(replayed).toMatchObject({ status: 409, body: { code: 'act_nonce_used' } });
  });

  it('404 by whoever made the call: its own session, and any of the same key', async () => {
    const { worker, child, resource } = await family('By itself');
    // The session is bound by a call that needs no approval.
    const own = await delegate(worker.account, worker.account, child.agent);
    await service.post(`/v1/agents/${worker.agent_id}/book/policy`, {
      session: worker.session,
      policy_type: 'tier2_above',
      value: null,
    });
    for (const session of [child, own])
      expect((await service.buy(worker.account, ask('Binds'), session.headers)).status).toBe(200);
    for (const session of [child, own]) expect((await act(session, resource)).heard.status).toBe(404);
    expect((await list(worker)).filter(({ status }) => status === 'open')).toHaveLength(1);
  });

  it('404 by the same key from above, as a session that hands itself a child would', async () => {
    const key = newKey();
    const { worker, parent } = await overseen(key);
    const child = await delegate(key, worker.account, key, narrower(parent));
    const { request } = await callToApprove(worker, 'By the same key', child.headers);
    expect((await act(parent, `call/${request.request_hash}`)).heard.status).toBe(404);
    expect((await newest(worker)).status).toBe('open');
  });

  it('404 by a session of another tree, for a call under none, for no call, and for what is no name of one', async () => {
    const { parent } = await family('Of one tree');
    const { resource } = await family('Of another tree');
    const plain = await callToApprove(await cautious(), 'Under no session');
    const others = [resource, `call/${plain.request.request_hash}`, `call/${'0'.repeat(64)}`, 'call/x', 'book'];
    for (const other of others) expect((await act(parent, other)).heard.status).toBe(404);
  });

  it('401 and 403: signed by another key, too late, and by a session that is over', async () => {
    const { worker, parent, resource } = await family('Over');
    const forged = await act({ ...parent, agent: newKey() }, resource);
    expect(forged.heard).toMatchObject({ status: 401, body: { code: 'act_signature_invalid' } });
    const late = await act(parent, resource, { deadline: nowSeconds() - 1 });
    expect(late.heard).toMatchObject({ status: 401, body: { code: 'act_expired' } });
    await service.post(
      `/v1/sessions/${parent.delegation_hash}/revoke`,
      await signRevocation(worker.account, parent.delegation_hash),
    );
    expect((await act(parent, resource)).heard).toMatchObject({ status: 403, body: { code: 'session_not_active' } });
    expect((await newest(worker)).status).toBe('open');
  });

  it('403 approval_ttl_expired where the payer’s book has the act for one of high risk, and no challenge is shown', async () => {
    const { worker, parent, resource } = await family('Of high risk');
    await service.post(`/v1/agents/${worker.agent_id}/book/policy`, {
      session: worker.session,
      policy_type: 'risk_tiers',
      value: { high: ['approve'], low: [] },
    });
    expect((await act(parent, resource)).heard).toMatchObject({ status: 403, body: { code: 'approval_ttl_expired' } });
    const { body } = await service.post<{ challenge_id: string; nonce: string; deadline: number }>(
      `/v1/sessions/${parent.delegation_hash}/challenge`,
      {},
    );
    const { challenge_id, nonce, deadline } = body;
    expect((await act(parent, resource, { challenge_id, nonce, deadline })).heard.status).toBe(200);
  });

  it('does not pass the cap of the session that the call is made under', async () => {
    const { worker, parent } = await overseen();
    const child = await delegate(parent.agent, worker.account, newKey(), { ...narrower(parent), capAtomic: '2000' });
    const within = await callToApprove(worker, 'Within the cap', child.headers);
    const beyond = await callToApprove(worker, 'Beyond the cap', child.headers);
    for (const { request } of [within, beyond])
      expect((await act(parent, `call/${request.request_hash}`)).heard.status).toBe(200);
    expect((await within.send()).status).toBe(200);
    expect(await beyond.send()).toMatchObject({ status: 403, body: { code: 'session_cap_exceeded', charged: false } });
    // The approval was given back in the transaction in which the claim was released.
    expect((await newest(worker)).status).toBe('approved');
  });
});
