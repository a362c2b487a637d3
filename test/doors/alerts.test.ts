import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { AlertSettingsNoun } from '../../schema/book-alerts.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { sha256Hex } from '../../schema/digest.ts';
import { listen } from '../harness/doors/listen.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';
import { openSocket } from '../harness/doors/socket.ts';

type Settings = z.infer<typeof AlertSettingsNoun>;
type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let agent: Agent;
let stranger: Agent;
let shop: ReturnType<typeof policyDoorsOf>;
beforeAll(async () => {
  service = await openService({}, { mid_hour: true });
  [agent, stranger] = [await service.newAgent(), await service.newAgent()];
  shop = policyDoorsOf(service);
});

const path = (agent_id: number) => `/v1/agents/${agent_id}/book/alerts`;
const read = (whose = agent) => service.get<Settings>(path(whose.agent_id), { 'X-SVC-Session': whose.session });
const set = (body: JsonObject, headers = {}, whose = agent) =>
  service.post<Settings>(path(whose.agent_id), { session: whose.session, ...body }, headers);
const graphql = (query: string) => onGraph(service, query, {}, agent.session);

const usual = { thresholds_percent: [50, 80, 100], burn_factor: 4, budget_end_hours: 24 };

describe('GET, POST /v1/agents/{agent_id}/book/alerts', () => {
  it('200 with what is usual where nothing was set', async () => {
    expect(await read()).toMatchObject({
      status: 200,
      body: { agent_id: agent.agent_id, ...usual, changes: [], changes_truncated: false },
    });
  });

  it('200 with what was set, ascending, each member for itself, and with who set it; null restores', async () => {
    expect((await set({ thresholds_percent: [95, 10] })).body).toMatchObject({
      ...usual,
      thresholds_percent: [10, 95],
    });
    expect((await set({ burn_factor: 10, budget_end_hours: 48 })).body).toMatchObject({
      thresholds_percent: [10, 95],
      burn_factor: 10,
      budget_end_hours: 48,
    });
    expect((await set({ thresholds_percent: null, burn_factor: null })).body).toMatchObject({
      ...usual,
      budget_end_hours: 48,
    });
    expect((await set({ thresholds_percent: [] })).body.thresholds_percent).toEqual([]);
    const { body } = await set({ thresholds_percent: null, budget_end_hours: null });
    expect(body).toMatchObject(usual);
    expect(body.changes).toHaveLength(5);
    expect(body.changes[0]).toMatchObject({
      before: { ...usual, thresholds_percent: [], budget_end_hours: 48 },
      after: usual,
      by: 'session',
      session: sha256Hex(agent.session).slice(0, 16),
    });
    expect((await read()).body).toEqual(body);
  });

  it.each<[JsonObject, string | null]>([
    [{ thresholds_percent: [0] }, 'thresholds_percent.0'],
    [{ thresholds_percent: [101] }, 'thresholds_percent.0'],
    [{ thresholds_percent: [50, 50] }, 'thresholds_percent'],
    [{ thresholds_percent: [1.5] }, 'thresholds_percent.0'],
    [{ thresholds_percent: '50' }, 'thresholds_percent'],
    [{ thresholds_percent: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] }, 'thresholds_percent'],
    [{ burn_factor: 1 }, 'burn_factor'],
    [{ burn_factor: '4' }, 'burn_factor'],
    [{ budget_end_hours: 721 }, 'budget_end_hours'],
    [{ budget_end_days: 1 }, 'budget_end_days'],
    [{}, null],
  ])('400 for %j', async (body, param) => {
    const before = (await read()).body;
    expect(await set(body)).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param } } });
    expect((await read()).body).toEqual(before);
  });

  it('leaves what is signed of the allowance as it is', async () => {
    const terms = () =>
      service.query('select terms_hash, policy_version from book where agent_id = $1', [stranger.agent_id]);
    await shop.setBudget(stranger, '500000');
    const before = await terms();
    await set({ burn_factor: 5 }, {}, stranger);
    expect(await terms()).toEqual(before);
    expect(before[0]?.terms_hash).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('GraphQL alertSettings and setAlerts', () => {
  const FIELDS = '{ agentId thresholdsPercent burnFactor budgetEndHours changes { at by after { burnFactor } } }';

  it('are the same settings as the door', async () => {
    const { data } = await graphql(
      `mutation { setAlerts(agentId: ${agent.agent_id}, thresholdsPercent: [90, 70], burnFactor: 3) ${FIELDS} }`,
    );
    expect(data?.setAlerts).toMatchObject({ thresholdsPercent: [70, 90], burnFactor: 3, budgetEndHours: 24 });
    expect((await read()).body).toMatchObject({ thresholds_percent: [70, 90], burn_factor: 3 });
    await graphql(
      `mutation { setAlerts(agentId: ${agent.agent_id}, thresholdsPercent: null, burnFactor: null) ${FIELDS} }`,
    );
    const { data: shown } = await graphql(`{ alertSettings(agentId: ${agent.agent_id}) ${FIELDS} }`);
    expect(shown?.alertSettings).toMatchObject({
      thresholdsPercent: [50, 80, 100],
      burnFactor: 4,
      changes: expect.arrayContaining([expect.objectContaining({ by: 'session', after: { burnFactor: 3 } })]),
    });
  });
});

describe('a book that comes near its walls', () => {
  let spender: Agent;
  // Ten rows, with the one of the registration. They cost half of the budget, all within an hour.
  beforeAll(async () => {
    spender = await service.newAgent();
    await shop.setBudget(spender, '40000');
    await shop.set(spender, 'daily_cap', '25000');
    for (let bought = 1; bought < 10; bought++) await service.buy(spender.account);
  });

  it('200 by REST: `alerts`, newest first, each by the row that reached it, and `budget_ends_at`', async () => {
    const body = await shop.bookOf(spender);
    const [end, half, daily, ...others] = body.alerts;
    expect(end).toMatchObject({ alert: 'budget_end', ceiling: 'budget', rate_atomic: '20000', seq: 10 });
    expect(half).toEqual({
      position: expect.any(Number),
      alert: 'threshold',
      ceiling: 'budget',
      percent: 50,
      spent_atomic: '20000',
      cap_atomic: '40000',
      seq: 10,
      task_id: body.entries[0]?.task_id,
      at: body.entries[0]?.collected_at,
    });
    expect([daily, ...others]).toMatchObject([
      { ceiling: 'daily_cap', percent: 80, seq: 10, period_start: expect.stringMatching(/T00:00:00.000Z$/) },
      { ceiling: 'daily_cap', percent: 50, seq: 7 },
    ]);
    expect(body.budget_ends_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:00:00.000Z$/);
    expect(body.budget_ends_at).toBe(end?.budget_ends_at);
  });

  it('tells it live, on a socket and by SSE, with its row', async () => {
    const live = `subscription { bookRows(agentId: ${spender.agent_id}, after: AFTER) {
      kind seq row { seq } alert { alert ceiling percent capAtomic } } }`;
    const { alerts } = await shop.bookOf(spender);
    const query = live.replace('AFTER', String((alerts[0]?.position ?? 0) - 1));
    const told = { kind: 'alert', seq: 10, row: { seq: 10 }, alert: { alert: 'budget_end', ceiling: 'budget' } };
    const socket = openSocket(service, { session: spender.session });
    expect(await socket.first(query)).toMatchObject({ data: { bookRows: told } });
    const headers = { 'X-SVC-Session': spender.session, accept: 'text/event-stream' };
    const stream = await listen(service, { query }, { headers, path: '/graphql/stream' });
    expect(JSON.parse((await stream.next()) ?? '')).toMatchObject({ data: { bookRows: told } });
    stream.leave();
  });

  it('200 of a book without a budget or without spend: none, and no end', async () => {
    const { alerts, budget_ends_at } = await shop.bookOf(await service.newAgent());
    expect({ alerts, budget_ends_at }).toEqual({ alerts: [], budget_ends_at: null });
  });
});
