import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { A2A, payerHeader, rawMessage, rpc } from '../harness/a2a/agent.ts';
import { approvalDoorsOf } from '../harness/doors/approvals.ts';
import { resetHubsBeforeEach, type Service, sharedService } from '../harness/doors/open-service.ts';

/* An approval whose call failed can be used again, and passes the same call once. */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
resetHubsBeforeEach(() => service);

const { newest, list, cautious, callToApprove, decide } = approvalDoorsOf(() => service);

describe('POST /v1/chat/completions', () => {
  it('502 hub_failed, not charged: the approval is given back, and the same payment passes by it, once', async () => {
    const agent = await cautious();
    const { request, send } = await callToApprove(agent, 'Approved, and the hub fails');
    await decide(agent, request);
    const { approval_id } = request;
    const spent = (await service.transfersFrom(agent.account)).length;
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    for (let times = 0; times < 2; times++) {
      expect(await send()).toMatchObject({ status: 502, body: { code: 'hub_failed', charged: false } });
      expect(await newest(agent)).toMatchObject({ approval_id, status: 'approved' });
    }
    expect(await service.claimsOf(agent.account)).toContainEqual({ state: 'released', reason: 'hub_failed' });
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    expect((await send()).status).toBe(200);
    expect(await newest(agent)).toMatchObject({ approval_id, status: 'passed' });
    // Another payment for the same call is refused and creates a new request for approval.
    expect((await callToApprove(agent, 'Approved, and the hub fails')).request.approval_id).not.toBe(approval_id);
    expect(await service.transfersFrom(agent.account)).toHaveLength(spent + 1);
  });
});

describe('CancelTask', () => {
  it('of an approved call whose payment was not sent: the approval is given back, and the same payment passes by it, once', async () => {
    const agent = await cautious();
    const payment = await service.payment(agent.account, A2A);
    const signed = await payerHeader(service, agent.account);
    const parts: JsonObject[] = [{ data: { model: 'alpha-1' } }, { text: 'Approved, and canceled' }];
    const send = (by = payment) => rpc(service, 'SendMessage', rawMessage('', { parts }), by);
    const reason = async (sent: ReturnType<typeof send>) => (await sent).body.error.data[0]?.reason;
    expect(await reason(send())).toBe('APPROVAL_TTL_EXPIRED');
    const request = await newest(agent);
    const { approval_id } = request;
    await decide(agent, request);
    const spent = (await service.transfersFrom(agent.account)).length;

    service.gates.alpha.hold();
    const held = service.gates.alpha.held();
    const call = send();
    await expect.poll(() => service.gates.alpha.held()).toBe(held + 1);
    expect(await newest(agent)).toMatchObject({ approval_id, status: 'passed' });
    // In the meantime the approval passes no other call.
    expect(await reason(send(await service.payment(agent.account, A2A)))).toBe('APPROVAL_TTL_EXPIRED');
    const working = { status: 'TASK_STATE_WORKING' };
    const listed = await rpc<{ tasks: readonly JsonObject[] }>(service, 'ListTasks', working, signed);
    const canceled = await rpc(service, 'CancelTask', { id: String(listed.body.result.tasks[0]?.id) }, signed);
    expect(canceled.body.result).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
    expect(await reason(call)).toBe('CALL_CANCELED');
    service.gates.alpha.open();

    expect(await statusOf(approval_id)).toBe('approved');
    expect((await send()).status).toBe(200);
    expect(await statusOf(approval_id)).toBe('passed');
    expect(await service.transfersFrom(agent.account)).toHaveLength(spent + 1);
    expect(await reason(send(await service.payment(agent.account, A2A)))).toBe('APPROVAL_TTL_EXPIRED');

    async function statusOf(id: string) {
      return (await list(agent)).find(it => it.approval_id === id)?.status;
    }
  });
});
