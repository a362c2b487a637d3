import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { JsonObject } from '../../schema/canonical-json.ts';
import type { PolicyNoun } from '../../schema/policy.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';

type Policy = z.infer<typeof PolicyNoun>;
type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let agent: Agent;
beforeAll(async () => {
  service = await sharedService();
  agent = await service.newAgent();
});

const path = (agent_id: number | string) => `/v1/agents/${agent_id}/book/policy`;
const read = (session = agent.session) => service.get<Policy>(path(agent.agent_id), { 'X-SVC-Session': session });
const write = (body: JsonObject, headers = {}) =>
  service.post<Policy>(path(agent.agent_id), { session: agent.session, ...body }, headers);
const set = (policy_type: string, value: JsonObject[string]) => write({ policy_type, value });

const unset = {
  daily_cap: null,
  hourly_cap: null,
  model_allowlist: null,
  kill_switch: null,
  require_payment_ref: null,
  tier2_above: null,
  approval_ttl: null,
  risk_tiers: null,
};
const none = { ...unset, shadow: null };

describe('GET, POST /v1/agents/{agent_id}/book/policy', () => {
  it('200 with all eight names, null where nothing is set', async () => {
    expect(await read()).toMatchObject({ status: 200, body: { agent_id: agent.agent_id, ...none } });
  });

  it('200 with what was set, each member for itself; null clears', async () => {
    expect((await set('hourly_cap', '20000')).body).toEqual({
      agent_id: agent.agent_id,
      ...none,
      hourly_cap: '20000',
    });
    expect((await set('daily_cap', 100_000)).body).toMatchObject({ hourly_cap: '20000', daily_cap: '100000' });
    expect((await set('kill_switch', false)).body).toMatchObject({ daily_cap: '100000', kill_switch: false });
    const kept = { ...none, agent_id: agent.agent_id, daily_cap: '100000', kill_switch: false };
    expect((await set('hourly_cap', null)).body).toEqual(kept);
    expect((await read()).body).toEqual(kept);
  });

  it('200 with each of the models, approvals and tiers that were set; null clears them', async () => {
    const risk_tiers = { high: ['submit_inference', 'redeem'], low: ['quote_task'] };
    const values = { model_allowlist: ['alpha-1'], tier2_above: '5000', approval_ttl: 60, risk_tiers };
    for (const [name, value] of Object.entries(values)) expect((await set(name, value)).status).toBe(200);
    expect((await read()).body).toMatchObject(values);
    for (const name of Object.keys(values)) await set(name, null);
    expect((await read()).body).toMatchObject({ ...unset, daily_cap: '100000', kill_switch: false });
  });

  it('200 with what is in shadow mode apart, each mode for itself', async () => {
    const shadow = (policy_type: string, value: JsonObject[string]) => write({ policy_type, value, mode: 'shadow' });
    const { body } = await shadow('daily_cap', '5');
    expect(body).toMatchObject({ daily_cap: '100000', shadow: { ...unset, daily_cap: '5' } });
    await shadow('kill_switch', true);
    expect((await set('daily_cap', '200000')).body).toMatchObject({ daily_cap: '200000', shadow: { daily_cap: '5' } });
    expect((await read()).body).toMatchObject({ kill_switch: false, shadow: { kill_switch: true } });
    await shadow('kill_switch', null);
    expect((await shadow('daily_cap', null)).body).toMatchObject({ daily_cap: '200000', shadow: null });
    await set('daily_cap', '100000');
  });

  it.each([
    [{ policy_type: 'weekly_cap', value: '1' }, 'invalid_policy', 'policy_type'],
    [{ policy_type: 'model_allowlist', value: [] }, 'invalid_policy', 'value'],
    [{ policy_type: 'model_allowlist', value: ['svc/auto'] }, 'invalid_policy', 'value'],
    [{ policy_type: 'tier2_above', value: '-5' }, 'invalid_policy', 'value'],
    [{ policy_type: 'approval_ttl', value: 0 }, 'invalid_policy', 'value'],
    [{ policy_type: 'risk_tiers', value: { high: ['no_door'], low: [] } }, 'invalid_policy', 'value'],
    [{ policy_type: 'hourly_cap', value: '1', mode: 'dry' }, 'invalid_request', 'mode'],
    [{ policy_type: 'hourly_cap', value: '1.5' }, 'invalid_policy', 'value'],
    [{ policy_type: 'hourly_cap', value: { atomic: '1' } }, 'invalid_policy', 'value'],
    [{ policy_type: 'kill_switch', value: 'off' }, 'invalid_policy', 'value'],
    // A missing value would be read as null and clear the policy.
    [{ policy_type: 'kill_switch' }, 'invalid_policy', 'value'],
    [{ value: null }, 'invalid_request', 'policy_type'],
    [{ policy_type: 7, value: null }, 'invalid_request', 'policy_type'],
    // With the wrong name the policy would be active instead of being tried.
    [{ policy_type: 'kill_switch', value: true, Mode: 'shadow' }, 'invalid_request', 'Mode'],
  ] as const)('400 for %j', async (body, code, param) => {
    const before = (await read()).body;
    expect(await write(body)).toMatchObject({ status: 400, body: { code, error: { code, param } } });
    expect((await read()).body).toEqual(before);
  });
});

describe('GraphQL bookPolicy and setBookPolicy', () => {
  const graphql = (query: string, variables: JsonObject) => onGraph(service, query, variables, agent.session);
  const SET = `mutation ($agentId: Int!, $type: PolicyType!, $value: JSON) {
    setBookPolicy(agentId: $agentId, policyType: $type, value: $value) { agentId dailyCap hourlyCap killSwitch } }`;
  const READ = 'query ($agentId: Int!) { bookPolicy(agentId: $agentId) { dailyCap hourlyCap killSwitch tier2Above } }';

  it('are the same policy as the door', async () => {
    const agentId = agent.agent_id;
    await set('daily_cap', null);
    const set_ = await graphql(SET, { agentId, type: 'hourly_cap', value: '9' });
    expect(set_.data?.setBookPolicy).toMatchObject({ agentId, hourlyCap: '9', dailyCap: null });
    expect((await read()).body).toMatchObject({ hourly_cap: '9' });
    await set('hourly_cap', null);
    const { data } = await graphql(READ, { agentId });
    expect(data?.bookPolicy).toMatchObject({ hourlyCap: null, tier2Above: null });
  });

  it('refuse what the door refuses', async () => {
    const agentId = agent.agent_id;
    const bad = await graphql(SET, { agentId, type: 'hourly_cap' });
    expect(bad.errors?.[0]?.extensions).toMatchObject({ code: 'invalid_policy', param: 'value' });
    const shadowed = await graphql(
      `mutation ($agentId: Int!) { setBookPolicy(agentId: $agentId, policyType: hourly_cap, value: "7", mode: shadow) {
        hourlyCap shadow { hourlyCap } } }`,
      { agentId },
    );
    expect(shadowed.data?.setBookPolicy).toEqual({ hourlyCap: null, shadow: { hourlyCap: '7' } });
  });
});
