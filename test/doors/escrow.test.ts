import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { escrowLimits } from '../../schema/limits.ts';
import { escrowDoorsOf } from '../harness/doors/escrows.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let agent: Agent;
let stranger: Agent;
let call: { readonly task_id: string; readonly commitment: string };
beforeAll(async () => {
  service = await sharedService();
  [agent, stranger] = [await service.newAgent(), await service.newAgent()];
  call = await bought(agent, 'A call to hold');
});

const { ledger, bought, pass } = escrowDoorsOf(() => service);
const claim = { claim_type: 'output_missing', evidence: { Seen_By: ['nobody'] } };

describe('POST /v1/agents/{agent_id}/book/escrow', () => {
  it('201 opened, 200 read, 200 released: with every check, and what is legal after each', async () => {
    const required = { output_hash: call.commitment, proof_tier: 'inference' };
    const { status, body } = await ledger(agent, 'open', { task_id: call.task_id, amount: '2000', required });
    expect(status).toBe(201);
    const phase = { claim_type: null, evidence: null, checks: null };
    expect(body).toEqual({
      escrow_id: expect.stringMatching(/^escrow_[0-9a-z]{26}$/),
      agent_id: agent.agent_id,
      task_id: call.task_id,
      amount: '2000',
      required,
      state: 'open',
      opened_at: expect.any(String),
      expires_at: expect.any(String),
      phases: [{ action: 'open', state: 'open', at: expect.any(String), position: expect.any(Number), ...phase }],
      legal: ['release', 'clawback', 'status'],
    });
    const lasts_ms = Date.parse(body.expires_at) - Date.parse(body.opened_at);
    expect(lasts_ms).toBe(escrowLimits.lasts_seconds_default * 1000);
    const { escrow_id } = body;
    expect(await ledger(agent, 'status', { escrow_id })).toMatchObject({ status: 200, body });
    expect(await ledger(agent, 'status', { task_id: call.task_id })).toMatchObject({ status: 200, body });
    const released = await ledger(agent, 'release', { escrow_id });
    expect(released).toMatchObject({ status: 200, body: { state: 'released', legal: ['status'] } });
    expect(released.body.phases[1]?.checks?.map(({ passed }) => passed)).toEqual([true, true, true]);
    expect(await ledger(agent, 'release', { escrow_id })).toMatchObject({ status: 200, body: released.body });
  });

  it('200 clawed back for a reason, which is kept as it was given', async () => {
    const { task_id } = await bought(agent, 'To be clawed back');
    const { escrow_id } = (await ledger(agent, 'open', { task_id })).body;
    expect(await ledger(agent, 'clawback', { escrow_id })).toMatchObject({
      status: 400,
      body: { code: 'escrow_claim_required', state: 'open', error: { param: 'claim_type' } },
    });
    const { status, body } = await ledger(agent, 'clawback', { escrow_id, ...claim });
    expect([status, body.state, body.phases[1]]).toMatchObject([200, 'clawed_back', { action: 'clawback', ...claim }]);
  });

  it('200 expired where its time is over, and the round tells the book of it', async () => {
    const { task_id } = await bought(agent, 'To expire');
    const { escrow_id } = (await ledger(agent, 'open', { task_id })).body;
    await pass('ledger_escrow', escrow_id);
    expect((await ledger(agent, 'status', { escrow_id })).body).toMatchObject({
      state: 'expired',
      legal: ['clawback', 'status'],
    });
    const phases = async () => (await ledger(agent, 'status', { escrow_id })).body.phases.map(({ state }) => state);
    await expect.poll(phases).toEqual(['open', 'expired']);
    expect((await ledger(agent, 'clawback', { task_id })).body.state).toBe('clawed_back');
  });

  it('400 on an action that there is none of, or that is not legal now, with those that are', async () => {
    for (const action of ['fund', 'burn', ''])
      expect(await ledger(agent, action, { task_id: call.task_id })).toMatchObject({
        status: 400,
        body: {
          code: 'invalid_escrow_action',
          legal: ['open', 'release', 'clawback', 'status'],
          error: { param: 'action' },
        },
      });
    expect(await ledger(agent, 'clawback', { task_id: call.task_id, ...claim })).toMatchObject({
      status: 400,
      body: { code: 'invalid_escrow_action', state: 'released', party: 'owner', legal: ['status'] },
    });
  });

  it('400 where a check of the release fails, with the outcome of each; it stays open', async () => {
    const { task_id, commitment } = await bought(agent, 'Checked');
    const output_hash = commitment.replace('sha256', 'keccak256');
    const { escrow_id } = (await ledger(agent, 'open', { task_id, required: { output_hash } })).body;
    expect(await ledger(agent, 'release', { escrow_id })).toMatchObject({
      status: 400,
      body: {
        code: 'escrow_checks_failed',
        checks: [
          { check: 'collected', passed: true },
          { check: 'output_hash', passed: false, wanted: output_hash, found: commitment },
        ],
      },
    });
    expect((await ledger(agent, 'status', { escrow_id })).body.state).toBe('open');
  });

  it.each<[string, JsonObject, string]>([
    ['no task', {}, 'task_id'],
    ['an amount that is no string of digits', { amount: 2000 }, 'amount'],
    ['an amount of nothing', { amount: '0' }, 'amount'],
    ['a hash of no kind', { required: { output_hash: `0x${'ab'.repeat(32)}` } }, 'required.output_hash'],
    ['a tier that there is none of', { required: { proof_tier: 'zk' } }, 'required.proof_tier'],
    ['an end that is past', { expires_at: '2020-01-01' }, 'expires_at'],
    ['a member that there is none of', { until: 'tomorrow' }, 'until'],
    ['a member of another action', { evidence: {} }, 'evidence'],
  ])('400 on %s, with its name', async (_, members, param) => {
    const { task_id } = agent;
    const body = param === 'task_id' ? members : { task_id, ...members };
    expect(await ledger(agent, 'open', body)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', error: { param } },
    });
  });

  it('400 on an amount that is not what was collected, on a claim that there is none of, and on no name', async () => {
    const { task_id } = agent;
    expect(await ledger(agent, 'open', { task_id, amount: '1' })).toMatchObject({
      status: 400,
      body: { code: 'escrow_amount_mismatch', error: { param: 'amount' } },
    });
    expect(await ledger(agent, 'clawback', { task_id, claim_type: 'boredom' })).toMatchObject({
      status: 400,
      body: { error: { param: 'claim_type' } },
    });
    const large = { evidence: { text: 'x'.repeat(escrowLimits.evidence_bytes_max) } };
    expect(await ledger(agent, 'clawback', { task_id, ...claim, ...large })).toMatchObject({
      status: 400,
      body: { error: { param: 'evidence' } },
    });
    expect(await ledger(agent, 'status')).toMatchObject({ status: 400, body: { error: { param: 'escrow_id' } } });
  });

  it('400 over what was not collected: an inflow', async () => {
    const inflow = await service.post<{ task_id: string }>(`/v1/agents/${agent.agent_id}/book/inflow`, {
      session: agent.session,
      allocation: '5',
    });
    expect(await ledger(agent, 'open', { task_id: inflow.body.task_id })).toMatchObject({
      status: 400,
      body: { code: 'escrow_not_collected' },
    });
  });

  it('404 over a task that is not on the book, and of an escrow that is not this book’s', async () => {
    expect(await ledger(stranger, 'open', { task_id: call.task_id })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    const { escrow_id } = (await ledger(agent, 'status', { task_id: call.task_id })).body;
    for (const action of ['status', 'release', 'clawback'])
      expect(await ledger(stranger, action, { escrow_id })).toMatchObject({
        status: 404,
        body: {
          code: 'escrow_not_found',
          detail: 'The agent has no escrow with this `escrow_id`, `task_id` or `job_id`.',
        },
      });
  });

  it('409 over a task that an escrow holds, opened otherwise; the same again is 201 as it was', async () => {
    const { task_id } = await bought(agent, 'Held once');
    const first = await ledger(agent, 'open', { task_id });
    expect(await ledger(agent, 'open', { task_id })).toMatchObject({ status: 201, body: first.body });
    expect(await ledger(agent, 'open', { task_id, amount: '2000' })).toMatchObject({
      status: 409,
      body: { code: 'escrow_exists' },
    });
  });

  it('503 on a book that its audit has closed', async () => {
    const own = await service.newAgent();
    const text = `update book set damage = '{"what":"row_missing","place":1}' where agent_id = $1`;
    await service.query(text, [own.agent_id]);
    expect(await ledger(own, 'open', { task_id: own.task_id })).toMatchObject({
      status: 503,
      body: { code: 'book_damaged' },
    });
  });
});

describe('on the graph', () => {
  const FIELDS = 'escrowId state required { outputHash proofTier } phases { action state claimType evidence } legal';
  const graphql = (query: string, variables: JsonObject) =>
    onGraph<Record<string, JsonObject | null>>(service, query, variables, agent.session);
  const OPEN = `mutation ($agentId: Int!, $input: LedgerEscrowInput!) { it: openLedgerEscrow(agentId: $agentId, input: $input) { ${FIELDS} } }`;
  const READ = `query ($agentId: Int!, $escrow: LedgerEscrowName!) { it: ledgerEscrow(agentId: $agentId, escrow: $escrow) { ${FIELDS} } }`;
  const CLAW = `mutation ($agentId: Int!, $escrow: LedgerEscrowName!, $claimType: DisputeClaimType, $evidence: JSONObject) {
    it: clawBackLedgerEscrow(agentId: $agentId, escrow: $escrow, claimType: $claimType, evidence: $evidence) { ${FIELDS} } }`;
  const RELEASE = `mutation ($agentId: Int!, $escrow: LedgerEscrowName!) { it: releaseLedgerEscrow(agentId: $agentId, escrow: $escrow) { ${FIELDS} } }`;

  it('an escrow is opened, read, released and clawed back as at the door', async () => {
    const agentId = agent.agent_id;
    const [first, second] = [await bought(agent, 'By graph'), await bought(agent, 'By graph, too')];
    const required = { outputHash: first.commitment, proofTier: 'settlement' };
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const opened = (
      await graphql(OPEN, { agentId, input: { taskId: first.task_id, amount: '2000', required, expiresAt } })
    ).data?.it;
    expect(opened).toMatchObject({ state: 'open', required });
    const escrow = { escrowId: opened?.escrowId ?? '' };
    expect((await graphql(READ, { agentId, escrow })).data?.it).toEqual(opened);
    expect((await graphql(RELEASE, { agentId, escrow })).data?.it).toMatchObject({ state: 'released' });
    await graphql(OPEN, { agentId, input: { taskId: second.task_id } });
    const asked = { agentId, escrow: { taskId: second.task_id }, claimType: 'wrong_model', evidence: { Model_A: 1 } };
    expect((await graphql(CLAW, asked)).data?.it).toMatchObject({
      state: 'clawed_back',
      phases: [{}, { claimType: 'wrong_model', evidence: { Model_A: 1 } }],
    });
  });

  it('its phases are events of the book', async () => {
    const { task_id } = await bought(agent, 'Told live');
    const { body } = await ledger(agent, 'open', { task_id });
    const events = await service.query<{ kind: string; body: JsonObject }>(
      'select kind, body from book_event where agent_id = $1 and position = $2',
      [agent.agent_id, body.phases[0]?.position],
    );
    expect(events).toMatchObject([{ kind: 'escrow', body: { escrow_id: body.escrow_id, phase: 'open' } }]);
  });
});
