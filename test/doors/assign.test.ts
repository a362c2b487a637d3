import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { sha256Hex } from '../../schema/digest.ts';
import { sliceLimits } from '../../schema/limits.ts';
import { bookProof, proofWindow } from '../../subgraphs/session/possession/proof.ts';
import { assignDoorsOf } from '../harness/doors/assignments.ts';
import { boundProofHeaders } from '../harness/doors/bound-proof.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let agent: Agent;
let stranger: Agent;
beforeAll(async () => {
  service = await sharedService();
  [agent, stranger] = [await service.newAgent(), await service.newAgent()];
});

const { path, assign, tokenOf, list, revoke, slice, expire } = assignDoorsOf(() => service);
const everything = { from_date: null, to_date: null, task_ids: null, limit: null };
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();

describe('POST /v1/agents/{agent_id}/book/assign', () => {
  it('201 with the token, which reads; who made it, and when', async () => {
    const { status, body } = await assign(agent);
    expect(status).toBe(201);
    expect(body).toEqual({
      assignment_id: expect.stringMatching(/^assignment_[0-9a-z]{26}$/),
      agent_id: agent.agent_id,
      grant_type: 'read',
      grantee: null,
      slice: everything,
      expires_at: null,
      status: 'live',
      created_at: expect.any(String),
      created_by: 'session',
      created_session: sha256Hex(agent.session).slice(0, 16),
      revoked_at: null,
      revoked_by: null,
      revoked_session: null,
      token: expect.stringMatching(/^svca_[\w-]{43}[0-9a-f]{8}$/),
    });
    expect((await slice(body.token)).status).toBe(200);
  });

  it('201 with all that may be said; null is what is left out', async () => {
    const bounds = {
      from_date: '2026-01-01',
      to_date: '2026-02-01T00:00:00+01:00',
      task_ids: ['a', 'b', 'a'],
      limit: 7,
    };
    const expires_at = tomorrow();
    const { body } = await assign(agent, { grant_type: 'collect', grantee: 'An auditor', slice: bounds, expires_at });
    expect(body).toMatchObject({
      grant_type: 'collect',
      grantee: 'An auditor',
      slice: {
        from_date: '2026-01-01T00:00:00.000Z',
        to_date: '2026-01-31T23:00:00.000Z',
        task_ids: ['a', 'b'],
        limit: 7,
      },
      expires_at,
    });
    const nulls = { grantee: null, slice: { ...everything }, expires_at: null };
    expect((await assign(agent, nulls)).body).toMatchObject({ ...nulls, grant_type: 'read' });
    expect((await assign(agent, { slice: null })).body).toMatchObject({ slice: everything });
  });

  it.each<[string, JsonObject, string]>([
    ['a grant type that there is none of', { grant_type: 'write' }, 'grant_type'],
    ['a slice that is no object', { slice: 'all' }, 'slice'],
    ['a bound that there is none of', { slice: { from: '2026-01-01' } }, 'slice'],
    ['a date that is none', { slice: { from_date: 'yesterday' } }, 'slice.from_date'],
    [
      'a slice that ends before it begins',
      { slice: { from_date: '2026-02-01', to_date: '2026-01-01' } },
      'slice.to_date',
    ],
    ['no task at all', { slice: { task_ids: [] } }, 'slice.task_ids'],
    ['a task that is no text', { slice: { task_ids: [1] } }, 'slice.task_ids.0'],
    ['too many tasks', { slice: { task_ids: Array(sliceLimits.task_ids_max + 1).fill('a') } }, 'slice.task_ids'],
    ['a limit of none', { slice: { limit: 0 } }, 'slice.limit'],
    ['a limit above 200', { slice: { limit: 201 } }, 'slice.limit'],
    ['a limit that is no whole number', { slice: { limit: 1.5 } }, 'slice.limit'],
    ['a grantee that is too long', { grantee: 'g'.repeat(sliceLimits.grantee_chars_max + 1) }, 'grantee'],
    ['an end that is no date', { expires_at: 'soon' }, 'expires_at'],
    ['an end that is past', { expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    ['a member that there is none of', { token: 'mine' }, 'token'],
  ])('400 on %s, with its name', async (_, body, param) => {
    const before = (await list(agent)).body.assignments.length;
    expect(await assign(agent, body)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', error: { param } },
    });
    expect((await list(agent)).body.assignments).toHaveLength(before);
  });

  it('201 by a proof that is bound to the request; sent again, or with another body, 403, empty, and no second token', async () => {
    const own = await service.newAgent();
    const body = { grantee: 'by proof' };
    const proof = boundProofHeaders(own.session, own.agent_id, { method: 'POST', path: path(own), body });
    const other = { grantee: 'a thief' };
    expect(await service.post(path(own), other, proof)).toMatchObject({ status: 403, text: '' });
    const made = await service.post<{ token: string }>(path(own), body, proof);
    expect(made).toMatchObject({
      status: 201,
      body: { created_by: 'bound_proof', created_session: sha256Hex(own.session).slice(0, 16), grantee: 'by proof' },
    });
    expect((await slice(made.body.token)).status).toBe(200);
    for (const again of [body, other])
      expect(await service.post(path(own), again, proof)).toMatchObject({ status: 403, text: '' });
    const at_once = boundProofHeaders(own.session, own.agent_id, { method: 'POST', path: path(own), body });
    const heard = await Promise.all(Array.from({ length: 10 }, () => service.post(path(own), body, at_once)));
    expect(heard.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(403)]);
    expect((await list(own)).body.assignments).toHaveLength(2);
  });

  it('409 beyond so many that are live; one that is over makes room, and of these only the newest are kept', async () => {
    const full = await service.newAgent();
    const made: string[] = [];
    const more = async (count: number) => {
      for (let index = 0; index < count; index++) made.push((await tokenOf(full)).assignment_id);
    };
    await more(sliceLimits.live_per_book_max);
    expect(await assign(full)).toMatchObject({ status: 409, body: { code: 'assignments_full' } });
    await revoke(full, made[0] ?? '');
    await expire(made[1] ?? '');
    await more(2);
    const together = await Promise.all([assign(full), assign(full)]);
    expect(together.map(({ status }) => status)).toEqual([409, 409]);
    expect((await list(full)).body.assignments).toHaveLength(sliceLimits.live_per_book_max + 2);
    await service.query('update slice_assignment set revoked_at = now() where agent_id = $1', [full.agent_id]);
    await more(1);
    const kept = (await list(full)).body.assignments.map(({ assignment_id }) => assignment_id);
    expect(kept).toEqual(made.toReversed().slice(0, 1 + sliceLimits.over_kept_max));
  });
});

describe('GET /v1/agents/{agent_id}/book/assign', () => {
  it('200, newest first, live or over, and no token', async () => {
    const own = await service.newAgent();
    expect((await list(own)).body).toEqual({ agent_id: own.agent_id, assignments: [] });
    const made = [await tokenOf(own), await tokenOf(own, { grantee: 'b' }), await tokenOf(own)];
    await revoke(own, made[0]?.assignment_id ?? '');
    await expire(made[1]?.assignment_id ?? '');
    const { status, body, text } = await list(own);
    expect(status).toBe(200);
    expect(body.assignments.map(it => [it.assignment_id, it.status])).toEqual(
      made.map((it, index) => [it.assignment_id, ['revoked', 'expired', 'live'][index]]).reverse(),
    );
    expect(text).not.toMatch(/svca_|token/);
  });
});

describe('DELETE /v1/agents/{agent_id}/book/assign/{assignment_id}', () => {
  it('200 revoked, with who did it; its token opens nothing from then on; again it is the same', async () => {
    const { assignment_id, token } = await tokenOf(agent);
    expect((await slice(token)).status).toBe(200);
    const { status, body } = await revoke(agent, assignment_id);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      assignment_id,
      status: 'revoked',
      revoked_by: 'session',
      revoked_session: sha256Hex(agent.session).slice(0, 16),
    });
    expect(await slice(token)).toMatchObject({ status: 403, body: { code: 'token_invalid' } });
    expect(await revoke(agent, assignment_id)).toMatchObject({ status: 200, body });
  });

  it('404 of one that there is none of, and of another book’s, which stays', async () => {
    const { assignment_id, token } = await tokenOf(agent);
    expect(await revoke(agent, 'assignment_none')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await revoke(stranger, assignment_id)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await slice(token)).status).toBe(200);
  });
});

describe('on the graph', () => {
  const graphql = (query: string, variables: JsonObject) =>
    onGraph<Record<string, JsonObject | null>>(service, query, variables, agent.session);
  const CREATE = `mutation ($agentId: Int!, $input: AssignmentInput!) { createAssignment(agentId: $agentId, input: $input) {
    token assignment { assignmentId grantType grantee slice { fromDate toDate taskIds limit } expiresAt status } } }`;
  const REVOKE = `mutation ($agentId: Int!, $id: String!) {
    revokeAssignment(agentId: $agentId, assignmentId: $id) { assignmentId status } }`;
  const LIST =
    'query ($agentId: Int!) { assignments(agentId: $agentId) { agentId assignments { assignmentId status } } }';

  it('an assignment is made, listed and revoked as at the doors', async () => {
    const agentId = agent.agent_id;
    const input = {
      grantType: 'collect',
      grantee: 'g',
      slice: { fromDate: '2026-01-01T00:00:00.000Z', toDate: null, taskIds: ['a'], limit: 3 },
      expiresAt: tomorrow(),
    };
    const { data } = await graphql(CREATE, { agentId, input });
    const { token, assignment } = (data?.createAssignment ?? {}) as { token: string; assignment: JsonObject };
    expect(assignment).toMatchObject({ ...input, status: 'live' });
    expect((await slice(token)).status).toBe(200);
    const id = assignment.assignmentId as string;
    const listed = (await graphql(LIST, { agentId })).data?.assignments as { assignments: JsonObject[] };
    expect(listed.assignments[0]).toEqual({ assignmentId: id, status: 'live' });
    expect((await graphql(REVOKE, { agentId, id })).data).toEqual({
      revokeAssignment: { assignmentId: id, status: 'revoked' },
    });
    expect((await slice(token)).status).toBe(403);
  });

  it('is made by a proof that is bound to the request, once, and by no plain one', async () => {
    const { agent_id: agentId, session } = agent;
    const body = { query: CREATE, variables: { agentId, input: { grantee: 'by proof' } } };
    const named = { 'X-SVC-Agent': String(agentId) };
    const by = async (proof: Record<string, string>) =>
      (
        await service.post<{ data: JsonObject | null; errors?: { extensions: JsonObject }[] }>('/graphql', body, {
          ...named,
          ...proof,
        })
      ).body;
    const plain = await by({ 'X-SVC-Proof': bookProof(session, agentId, proofWindow(Date.now())) });
    expect(plain.errors?.[0]?.extensions).toMatchObject({ code: 'forbidden' });
    const bound = boundProofHeaders(session, agentId, { method: 'POST', path: '/graphql', body });
    expect((await by(bound)).data?.createAssignment).toMatchObject({ assignment: { grantee: 'by proof' } });
    expect((await by(bound)).errors?.[0]?.extensions).toMatchObject({ code: 'forbidden' });
  });
});
