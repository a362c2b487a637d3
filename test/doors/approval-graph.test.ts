import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { approvalToken } from '../../subgraphs/book/approval/link.ts';
import { openVault } from '../../subgraphs/vault.ts';
import { type ApprovalAnswer, approvalDoorsOf } from '../harness/doors/approvals.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';

/* The operations of the approval endpoints on the graph have the same answers and codes. */

const SEAL_KEY = 'a key that seals and marks, of a test alone';
let service: Service;
beforeAll(async () => {
  service = await openService({ DEMO_KEYS: 'a-demo-key', SEAL_KEY });
});

const { path, shown, answer, cautious, callToApprove, newest, walletAnswer } = approvalDoorsOf(() => service);
const tokenOf = (approval_id: string) => approvalToken({ vault: openVault(SEAL_KEY) }, approval_id);

const MEMBERS = `approval_id: approvalId agent_id: agentId status request_hash: requestHash amount: amountAtomic payer
  delegation_hash: delegationHash model field doors task_id: taskId seq policy_code: policyCode asked_at: askedAt
  open_until: openUntil decided_by: decidedBy decided_at: decidedAt passes_until: passesUntil
  request_text: requestText request_text_characters: requestTextCharacters note`;

async function sent(query: string, variables: JsonObject, headers: Record<string, string> = {}) {
  const { data, refused } = await onGraph(service, query, variables, headers);
  return refused ? { code: refused.code, status: refused.status } : { answer: data?.answer as JsonObject };
}

const listed = (agent_id: number, headers = {}) =>
  sent(
    `query ($id: Int!) { answer: approvals(agentId: $id) { agent_id: agentId approvals { ${MEMBERS} } next } }`,
    { id: agent_id },
    headers,
  );
const answered = (
  agent_id: number,
  approval_id: string,
  signed: Awaited<ReturnType<typeof walletAnswer>>,
  headers = {},
) =>
  sent(
    `mutation ($id: Int!, $approval: String!, $input: ApprovalAnswerInput!) {
      answer: answerApproval(agentId: $id, approvalId: $approval, input: $input) { ${MEMBERS} } }`,
    {
      id: agent_id,
      approval: approval_id,
      input: {
        decision: signed.decision,
        walletSignature: signed.wallet_signature,
        signatureTimestamp: signed.signature_timestamp,
      },
    },
    headers,
  );
const linked = (approval_id: string, token: string) =>
  sent(
    `query ($id: String!, $token: String!) { answer: linkedApproval(approvalId: $id, token: $token) { ${MEMBERS} } }`,
    { id: approval_id, token },
  );
const byLink = (approval_id: string, token: string, decision: string, headers = {}) =>
  sent(
    `mutation ($id: String!, $token: String!, $decision: ApprovalDecision!) {
      answer: answerLinkedApproval(approvalId: $id, token: $token, decision: $decision) { ${MEMBERS} } }`,
    { id: approval_id, token, decision },
    headers,
  );
const atLink = async (approval_id: string, token: string, decision: string, headers = {}) => {
  const { status, body } = await service.post<(ApprovalAnswer & JsonObject) | null>(
    `/v1/approvals/${approval_id}`,
    { decision },
    { 'X-SVC-Approval': token, ...headers },
  );
  return status === 200 ? { answer: body } : { code: body?.code, status };
};

describe('approvals', () => {
  it('lists what the door lists, for whoever possesses the book alone', async () => {
    const [agent, stranger] = [await cautious(), await service.newAgent()];
    await callToApprove(agent, 'One');
    await callToApprove(agent, 'Another');
    const { body } = await service.get(path(agent), shown(agent));
    expect(await listed(agent.agent_id, shown(agent))).toEqual({ answer: body });
    expect((body as { approvals: unknown[] }).approvals).toHaveLength(2);
    expect(await listed(agent.agent_id)).toEqual({ code: 'unauthenticated', status: 401 });
    expect((await service.get(path(agent))).status).toBe(401);
    expect(await listed(agent.agent_id, shown(stranger))).toEqual({ code: 'forbidden', status: 403 });
    expect((await service.get(path(agent), shown(stranger))).status).toBe(403);
  });
});

describe('answerApproval', () => {
  it('is refused as at the door: 401, 403 beside a demo key, 404, and 409 once it is answered', async () => {
    const [agent, stranger] = [await cautious(), await service.newAgent()];
    const { request } = await callToApprove(agent, 'Answered on the graph');
    const { approval_id } = request;
    const right = await walletAnswer(agent.account, request);
    const wrong = await walletAnswer(stranger.account, request);
    const demo = { 'X-API-Key': 'a-demo-key' };
    const nobody = `approval_${'0'.repeat(26)}`;
    const refused = async (
      id: string,
      signed: typeof right,
      headers: Record<string, string>,
      status: number,
      code: string,
    ) => {
      expect(await answered(agent.agent_id, id, signed, headers)).toEqual({ code, status });
      expect(await answer(agent, id, signed, headers)).toMatchObject({ status });
    };
    await refused(approval_id, wrong, {}, 401, 'control_proof_invalid');
    await refused(approval_id, right, demo, 403, 'forbidden');
    await refused(nobody, right, {}, 404, 'not_found');
    const first = await answered(agent.agent_id, approval_id, right);
    expect(first).toEqual({ answer: await newest(agent) });
    expect((await answer(agent, approval_id, right)).body).toEqual((first as { answer: JsonObject }).answer);
    await refused(approval_id, await walletAnswer(agent.account, request, 'deny'), {}, 409, 'approval_closed');
  });
});

describe('linkedApproval and answerLinkedApproval', () => {
  it('show and answer as the link does, once; 409 approval_closed for the other answer', async () => {
    const agent = await cautious();
    const { request, send } = await callToApprove(agent, 'By its link');
    const [id, token] = [request.approval_id, tokenOf(request.approval_id)];
    const { body } = await service.get(`/v1/approvals/${id}`, { 'X-SVC-Approval': token });
    expect(await linked(id, token)).toEqual({ answer: body });
    const approved = await byLink(id, token, 'approve');
    expect(approved).toMatchObject({ answer: { approval_id: id, status: 'approved', decided_by: 'link' } });
    expect(await atLink(id, token, 'approve')).toEqual(approved);
    const closed = { code: 'approval_closed', status: 409 };
    expect(await byLink(id, token, 'deny')).toEqual(closed);
    expect(await atLink(id, token, 'deny')).toEqual(closed);
    expect((await send()).status).toBe(200);
  });

  it('are refused as at the link: 403 beside a demo key, 404 with another token and for no request', async () => {
    const agent = await cautious();
    const { request } = await callToApprove(agent, 'Not by its link');
    const [id, token] = [request.approval_id, tokenOf(request.approval_id)];
    const demo = { 'X-API-Key': 'a-demo-key' };
    const nobody = `approval_${'0'.repeat(26)}`;
    for (const [of, shown_token, headers, status, code] of [
      [id, token, demo, 403, 'forbidden'],
      [id, tokenOf(nobody), {}, 404, 'not_found'],
      [nobody, tokenOf(nobody), {}, 404, 'not_found'],
    ] as const) {
      expect(await byLink(of, shown_token, 'approve', headers)).toEqual({ code, status });
      expect(await atLink(of, shown_token, 'approve', headers)).toMatchObject({ status });
    }
    expect(await linked(id, tokenOf(nobody))).toEqual({ code: 'not_found', status: 404 });
    expect(await byLink(id, token, 'perhaps')).toMatchObject({ status: 400 });
    expect(await atLink(id, token, 'perhaps')).toMatchObject({ status: 400 });
    expect((await newest(agent)).status).toBe('open');
  });
});
