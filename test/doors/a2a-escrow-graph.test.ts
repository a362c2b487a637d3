import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { escrowPair } from '../harness/doors/escrows.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';

/* Escrows between two agents on the graph. */

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let pair: Awaited<ReturnType<typeof escrowPair>>;
let principal: Agent;
let counterparty: Agent;
beforeAll(async () => {
  service = await sharedService();
  pair = await escrowPair(service);
  ({ principal, counterparty } = pair);
});

describe('on the graph', () => {
  const FIELDS = 'jobId party state taskId outputCommitment phases { action by seq claimType evidence } legal';
  const graphql = async (query: string, variables: JsonObject, session: string) =>
    (
      await service.post<{ data: Record<string, JsonObject | null> | null; errors?: { extensions: JsonObject }[] }>(
        '/graphql',
        { query, variables },
        { 'X-SVC-Session': session },
      )
    ).body;
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
    const asked = { escrow, fulfillmentReceiptId: pair.delivered.task_id, outputCommitment: pair.delivered.commitment };
    expect(await as(other, steps.submit, asked)).toMatchObject({ state: 'submitted', party: 'counterparty' });
    const evidence = { Seen_At: 'noon' };
    expect(await as(one, steps.challenge, { escrow, claimType: 'wrong_model', evidence })).toMatchObject({
      state: 'challenged',
      phases: [{}, {}, {}, { claimType: 'wrong_model', evidence }],
    });
    expect(await as(one, steps.release, { escrow })).toMatchObject({ state: 'released' });
    expect(await as(other, READ, { escrow })).toMatchObject({ state: 'released', taskId: null });
    expect(await as(one, LIST, {})).toMatchObject({ agentId: one.agent_id, escrows: [{ jobId }] });
    const again = (await as(one, OPEN, { input: { ...input, jobId: 'by-graph' } }))?.jobId;
    expect(await as(one, steps.clawBack, { escrow: { jobId: again ?? '' } })).toMatchObject({ state: 'clawed_back' });
  });
});
