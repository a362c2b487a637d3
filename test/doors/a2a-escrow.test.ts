import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { CLAIM, escrowDoorsOf, escrowPair } from '../harness/doors/escrows.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let pair: Awaited<ReturnType<typeof escrowPair>>;
let principal: Agent;
let counterparty: Agent;
let stranger: Agent;
beforeAll(async () => {
  service = await sharedService();
  pair = await escrowPair(service);
  ({ principal, counterparty, stranger } = pair);
});

const { a2a, list, opened, pass } = escrowDoorsOf(() => service);

describe('POST /v1/agents/{agent_id}/book/a2a-escrow', () => {
  it('201 opened, 201 funded, 200 submitted, 200 released: each party is shown its own side', async () => {
    const first = await pair.open('whole');
    expect(first).toEqual({
      escrow_id: expect.stringMatching(/^escrow_[0-9a-z]{26}$/),
      job_id: 'whole',
      job_spec_hash: 'ab'.repeat(32),
      amount: '2000',
      parties: { principal_agent_id: principal.agent_id, counterparty_agent_id: counterparty.agent_id },
      required: { output_hash: null },
      party: 'principal',
      state: 'open',
      task_id: null,
      fulfillment_receipt_id: null,
      output_commitment: null,
      opened_at: expect.any(String),
      expires_at: expect.any(String),
      phases: [
        {
          action: 'open',
          by: 'principal',
          state: 'open',
          at: expect.any(String),
          task_id: expect.stringMatching(/^task_/),
          seq: expect.any(Number),
          claim_type: null,
          evidence: null,
          checks: null,
        },
      ],
      legal: ['fund', 'clawback', 'status'],
    });
    const name = { job_id: 'whole' };
    const task_id = await pair.payment();
    const backed = await a2a(principal, 'fund', { ...name, task_id });
    expect(backed).toMatchObject({ status: 201, body: { state: 'funded', task_id, legal: ['clawback', 'status'] } });
    const seen = await a2a(counterparty, 'status', name);
    expect(seen).toMatchObject({
      status: 200,
      body: {
        party: 'counterparty',
        state: 'funded',
        task_id: null,
        phases: [
          { action: 'open', task_id: null, seq: null },
          { action: 'fund', task_id: null, seq: null },
        ],
        legal: ['submit', 'clawback', 'status'],
      },
    });
    expect(seen.text).not.toContain(task_id);
    const submission = await pair.submission();
    const done = await a2a(counterparty, 'submit', { ...name, ...submission });
    expect(done).toMatchObject({ status: 200, body: { state: 'submitted', ...submission } });
    const released = await a2a(principal, 'release', name);
    expect(released).toMatchObject({ status: 200, body: { state: 'released', legal: ['status'] } });
    expect(released.body.phases.at(-1)?.checks?.map(({ check, passed }) => [check, passed])).toEqual([
      ['backing', true],
      ['fulfillment_receipt', true],
      ['fulfillment_of', true],
      ['output_commitment', true],
    ]);
    // The same step again gets the same answer.
    expect(await a2a(principal, 'fund', { ...name, task_id })).toMatchObject({ status: 201, body: backed.body });
  });

  it('200 submitted and released where the receipt commits to the output that `open` requires, which rows and answers show', async () => {
    // Two calls with the same answer commit to the same output.
    const { output_commitment: output_hash } = await pair.submission();
    const required = { output_hash: output_hash.replace(/:.*/, hash => hash.toUpperCase()) };
    await pair.funded('required', { required });
    const submission = await pair.submission();
    expect(submission.output_commitment).toBe(output_hash);
    const done = await a2a(counterparty, 'submit', { job_id: 'required', ...submission });
    expect(done).toMatchObject({ status: 200, body: { state: 'submitted', required: { output_hash } } });
    const released = await a2a(principal, 'release', { job_id: 'required' });
    expect(released.body.phases.at(-1)?.checks).toContainEqual({
      check: 'output_hash',
      passed: true,
      wanted: output_hash,
      found: output_hash,
    });
    for (const agent of [principal, counterparty])
      expect((await pair.book(agent)).entries[0]?.a2a_escrow).toMatchObject({
        job_id: 'required',
        required: { output_hash },
      });
  });

  it('each phase is a row without an amount, on the counterparty’s book from its own first act on; what was spent stays as it was', async () => {
    const before = { own: await pair.book(principal, ''), theirs: await pair.book(counterparty, '') };
    const { escrow_id } = await pair.open('rows');
    expect((await pair.book(counterparty, '')).entries).toEqual(before.theirs.entries);
    const task_id = await pair.payment();
    await a2a(principal, 'fund', { job_id: 'rows', task_id });
    expect((await pair.book(counterparty, '')).entries).toEqual(before.theirs.entries);
    await a2a(counterparty, 'clawback', { job_id: 'rows' });
    const escrowRows = async (agent: Agent) =>
      (await pair.book(agent)).entries.filter(row => row.a2a_escrow?.escrow_id === escrow_id).toReversed();
    const [own, theirs] = [await escrowRows(principal), await escrowRows(counterparty)];
    expect(own.map(row => row.a2a_escrow?.phase)).toEqual(['open', 'funded', 'clawed_back']);
    expect(theirs.map(row => [row.task_id, row.a2a_escrow?.by])).toEqual([
      [own[0]?.task_id, 'principal'],
      [own[1]?.task_id, 'principal'],
      [own[2]?.task_id, 'counterparty'],
    ]);
    expect(own[1]?.a2a_escrow).toMatchObject({ task_id, amount: '2000', job_id: 'rows' });
    expect(JSON.stringify(theirs)).not.toContain(task_id);
    for (const row of [...own, ...theirs])
      expect(row).toMatchObject({ evidence: 'a2a_escrow', payment: { ref: null, rail: null, amount: null } });
    expect(BigInt((await pair.book(principal, '')).spent)).toBe(BigInt(before.own.spent) + 2000n);
    expect((await pair.book(counterparty, '')).spent).toBe(before.theirs.spent);
    const lineage = await service.get<{ ancestors: { task_id: string }[] }>(
      `/v1/agents/${principal.agent_id}/book/lineage/${own[2]?.task_id}`,
      { 'X-SVC-Session': principal.session },
    );
    expect(lineage.status).toBe(200);
    expect(JSON.stringify(lineage.body)).toContain(own[0]?.task_id);
  });

  it('an export, the record and the report of the sequence take its rows as they are', async () => {
    const headers = { 'X-SVC-Session': counterparty.session };
    const book = `/v1/agents/${counterparty.agent_id}/book`;
    const { body } = await service.get<{ rows: JsonObject[]; totals: { count: number } }>(
      `${book}/export?format=json`,
      headers,
    );
    const rows = body.rows.filter(({ evidence }) => evidence === 'a2a_escrow');
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows)
      expect(row).toMatchObject({ amount: null, payment_ref: null, verify_url: null, auditor_url: null });
    expect(body.totals.count).toBe(body.rows.filter(({ amount }) => amount !== null).length);
    expect((await service.get(`${book}/export?format=csv`, headers)).text).toContain('a2a_escrow');
    expect((await service.get(`${book}/export/journal?per=row`, headers)).status).toBe(200);
    expect((await service.get(`${book}/gaps`, headers)).body).toMatchObject({ gapless: true });
    expect((await service.get(`/v1/agents/${counterparty.agent_id}/record`)).status).toBe(200);
  });

  it('200 challenged, 200 conceded by the counterparty, to whom the claim is shown', async () => {
    await pair.submitted('challenged');
    const name = { job_id: 'challenged' };
    expect(await a2a(principal, 'challenge', { ...name, ...CLAIM })).toMatchObject({
      status: 200,
      body: { state: 'challenged', legal: ['release', 'status'] },
    });
    const shown = await a2a(counterparty, 'status', name);
    expect(shown.body.phases.at(-1)).toMatchObject({ action: 'challenge', by: 'principal', ...CLAIM });
    expect(await a2a(counterparty, 'clawback', name)).toMatchObject({ status: 200, body: { state: 'clawed_back' } });
  });

  it('200 expired where its time is over, and the round writes that on the principal’s book alone', async () => {
    await pair.funded('expires');
    const { escrow_id } = (await a2a(principal, 'status', { job_id: 'expires' })).body;
    await pass('a2a_escrow', escrow_id);
    expect((await a2a(counterparty, 'status', { job_id: 'expires' })).body.state).toBe('expired');
    const last = async (agent: Agent) => (await pair.book(agent)).entries[0]?.a2a_escrow;
    await expect.poll(() => last(principal)).toMatchObject({ escrow_id, phase: 'expired' });
    expect(JSON.stringify((await pair.book(counterparty)).entries)).not.toContain(escrow_id);
    expect((await a2a(principal, 'clawback', { job_id: 'expires' })).body.state).toBe('clawed_back');
  });
});

describe('GET /v1/agents/{agent_id}/book/a2a-escrow', () => {
  it('200, newest first, both sides of the agent, page by page; nobody else’s', async () => {
    const [one, other] = [await service.newAgent(), await service.newAgent()];
    expect((await list(one)).body).toEqual({ agent_id: one.agent_id, escrows: [], next: null });
    const made = [
      await opened(one, other, 'page-1'),
      await opened(other, one, 'page-2'),
      await opened(one, other, 'page-3'),
    ];
    const ids = made.map(({ escrow_id }) => escrow_id).toReversed();
    const whole = await list(one);
    expect(whole.status).toBe(200);
    expect(whole.body.escrows.map(({ escrow_id, party }) => [escrow_id, party])).toEqual([
      [ids[0], 'principal'],
      [ids[1], 'counterparty'],
      [ids[2], 'principal'],
    ]);
    expect(whole.body.escrows[0]).toEqual(made[2]);
    const page = async (query: string) => (await list(one, query)).body.escrows.map(({ escrow_id }) => escrow_id);
    expect(await page('?limit=2')).toEqual(ids.slice(0, 2));
    expect((await list(one, '?limit=2')).body.next).toBe(ids[1]);
    for (const query of ['', '?limit=3', `?limit=2&before=${ids[1]}`])
      expect((await list(one, query)).body.next).toBeNull();
    expect(await page(`?limit=2&before=${ids[1]}`)).toEqual(ids.slice(2));
    expect(await page('?limit=1000')).toEqual(ids);
    expect((await list(stranger)).body.escrows).toEqual([]);
    for (const query of ['?limit=0', '?page=2']) expect((await list(one, query)).status).toBe(400);
  });
});

describe('on the graph', () => {
  const FIELDS =
    'jobId party state taskId required { outputHash } outputCommitment phases { action by seq claimType evidence } legal';
  const graphql = (query: string, variables: JsonObject, session: string) =>
    onGraph<Record<string, JsonObject | null>>(service, query, variables, session);
  const step = (name: string, args: Readonly<Record<string, string>> = {}) => {
    const given = { escrow: 'A2aEscrowName!', ...args };
    const variables = Object.entries(given).map(([arg, type]) => `$${arg}: ${type}`);
    const passed = Object.keys(given).map(arg => `${arg}: $${arg}`);
    return `mutation ($agentId: Int!, ${variables.join(', ')}) { it: ${name}(agentId: $agentId, ${passed.join(', ')}) { ${FIELDS} } }`;
  };
  const OPEN = `mutation ($agentId: Int!, $input: A2aEscrowInput!) { it: openA2aEscrow(agentId: $agentId, input: $input) { ${FIELDS} } }`;
  const READ = `query ($agentId: Int!, $escrow: A2aEscrowName!) { it: a2aEscrow(agentId: $agentId, escrow: $escrow) { ${FIELDS} } }`;
  const LIST = `query ($agentId: Int!) { it: a2aEscrows(agentId: $agentId, limit: 1) { agentId escrows { ${FIELDS} } } }`;
  const claims = { claimType: 'DisputeClaimType', evidence: 'JSONObject' };
  const steps = {
    fund: step('fundA2aEscrow', { taskId: 'String!' }),
    submit: step('submitA2aEscrow', { fulfillmentReceiptId: 'String!', outputCommitment: 'String!' }),
    release: step('releaseA2aEscrow'),
    clawBack: step('clawBackA2aEscrow', claims),
    challenge: step('challengeA2aEscrow', { ...claims, claimType: 'DisputeClaimType!' }),
  };

  it('an escrow goes all its ways as at the door', async () => {
    const [one, other] = [principal, counterparty];
    const input = {
      jobSpecHash: '0'.repeat(64),
      amount: '2000',
      parties: { counterpartyAgentId: other.agent_id },
      expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    };
    const as = async (agent: Agent, query: string, variables: JsonObject) =>
      (await graphql(query, { agentId: agent.agent_id, ...variables }, agent.session)).data?.it;
    const jobId = (await as(one, OPEN, { input }))?.jobId ?? '';
    expect(jobId).toMatch(/^job_[0-9a-z]{26}$/);
    const escrow = { jobId, parties: { principalAgentId: one.agent_id, counterpartyAgentId: null } };
    expect(await as(one, steps.fund, { escrow, taskId: await pair.payment() })).toMatchObject({ state: 'funded' });
    const { fulfillment_receipt_id, output_commitment } = await pair.submission();
    const asked = { escrow, fulfillmentReceiptId: fulfillment_receipt_id, outputCommitment: output_commitment };
    expect(await as(other, steps.submit, asked)).toMatchObject({ state: 'submitted', party: 'counterparty' });
    const evidence = { Seen_At: 'noon' };
    expect(await as(one, steps.challenge, { escrow, claimType: 'wrong_model', evidence })).toMatchObject({
      state: 'challenged',
      phases: [{}, {}, {}, { claimType: 'wrong_model', evidence }],
    });
    expect(await as(one, steps.release, { escrow })).toMatchObject({ state: 'released' });
    expect(await as(other, READ, { escrow })).toMatchObject({ state: 'released', taskId: null });
    expect(await as(one, LIST, {})).toMatchObject({ agentId: one.agent_id, escrows: [{ jobId }] });
    const required = { outputHash: output_commitment };
    const asks = { ...input, jobId: 'by-graph', required };
    expect(await as(one, OPEN, { input: asks })).toMatchObject({ required });
    const again = (await as(one, OPEN, { input: asks }))?.jobId;
    expect(await as(one, steps.clawBack, { escrow: { jobId: again ?? '' } })).toMatchObject({ state: 'clawed_back' });
  });
});
