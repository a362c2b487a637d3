import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { ask, openService, type Service } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
/** An agent whose stamp, one chat and one refused call were yesterday, and whose other chat is of today. */
let agent: Agent;
let other: Agent;
beforeAll(async () => {
  service = await openService({}, { mid_hour: true });
  const shop = policyDoorsOf(service);
  [agent, other] = [await service.newAgent(), await service.newAgent()];
  await service.buy(agent.account, ask('Yesterday'));
  expect((await shop.set(agent, 'kill_switch', true)).status).toBe(200);
  await shop.chatToRefusal(agent);
  await shop.set(agent, 'kill_switch', null);
  const id = [agent.agent_id];
  await service.query(`update book_sum set period = period - interval '1 day' where agent_id = $1`, id);
  expect((await service.buy(agent.account, ask('Today'))).status).toBe(200);
});

const path = (query = '', agent_id = agent.agent_id) => `/v1/agents/${agent_id}/record${query}`;
const read = (query = '', headers: Record<string, string> = {}) => service.get(path(query), headers);
const session = () => ({ 'X-SVC-Session': agent.session });
const empty = (status: number) => ({ status, text: '' });
const card = {
  rows: '1-9',
  blocked: '1-9',
  hubs: '1-9',
  networks: ['base'],
  spend: [{ rail: 'usdc', amount: '1000-9999' }],
  jobs: { posted: '0', won: '0', closed: '0', refusals_made: '0', refusals_received: '0' },
};

describe('GET /v1/agents/{agent_id}/record', () => {
  it('200 to anybody: days and ranges of what is over, and nothing exact', async () => {
    const { status, body } = await read();
    const text = `select to_char(now() at time zone 'UTC', 'YYYY-MM-DD') as today`;
    const [{ today } = { today: '' }] = await service.query<{ today: string }>(text);
    expect(status).toBe(200);
    expect(body).toEqual({ agent_id: agent.agent_id, member_since: today, as_of: today, ...card });
    expect((await read('', session())).body).toEqual(body);
    expect((await read('?opt_in=0')).body).toEqual(body);
  });

  it('200 that may be kept for a while, and 304 to who has it still', async () => {
    const first = await read();
    expect(first.headers.get('cache-control')).toBe('public, max-age=300');
    const etag = first.headers.get('etag') ?? '';
    expect(await read('', { 'If-None-Match': etag })).toMatchObject(empty(304));
    // Calls of the current day are not shown.
    await service.buy(agent.account, ask('Today again'));
    expect((await read()).headers.get('etag')).toBe(etag);
  });

  it("200 with opt_in and the owner's session: off-board history, exact and kept nowhere", async () => {
    const { status, body, headers } = await read('?opt_in=1', session());
    expect(status).toBe(200);
    expect(body).toMatchObject({ ...card, agent_id: agent.agent_id });
    const { off_board } = body as { off_board: JsonObject };
    const { totals } = await policyDoorsOf(service).bookOf(agent);
    expect(off_board.by_rail).toEqual([{ rail: 'usdc', count: totals.count, amount: totals.usdc_sum }]);
    expect(off_board.by_evidence).toEqual([
      { evidence: 'collected', rows: totals.count },
      { evidence: 'policy_blocked', rows: 1 },
    ]);
    expect(Object.keys(off_board)).toEqual([
      'by_rail',
      'by_evidence',
      'by_month',
      'first_collected_at',
      'last_collected_at',
    ]);
    expect([headers.get('cache-control'), headers.get('etag')]).toEqual(['no-store', null]);
  });

  it.each([
    ['opt_in', '?opt_in=2'],
    ['opt_in', '?opt_in='],
    ['optin', '?optin=1'],
  ])('400 naming %s: %s', async (param, query) => {
    expect(await read(query, session())).toMatchObject({ status: 400, body: { error: { param } } });
  });

  it('400 of an agent that can be none', async () => {
    expect(await service.get('/v1/agents/x/record')).toMatchObject({ status: 400 });
  });

  it('401 with opt_in and without possession, empty', async () => {
    expect(await read('?opt_in=1')).toMatchObject(empty(401));
  });

  it('403 with opt_in and a wrong session, or that of another book, empty', async () => {
    expect(await read('?opt_in=1', { 'X-SVC-Session': 'guess' })).toMatchObject(empty(403));
    expect(await read('?opt_in=1', { 'X-SVC-Session': other.session })).toMatchObject(empty(403));
  });

  it('404 of an agent that is not there; with opt_in it is none of yours', async () => {
    expect(await service.get(path('', 999_999))).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await service.get(path('?opt_in=1', 999_999))).toMatchObject(empty(401));
    expect(await service.get(path('?opt_in=1', 999_999), session())).toMatchObject(empty(403));
  });

  it('503 of a book that its audit has closed', async () => {
    await service.query(`update book set damage = '{}' where agent_id = $1`, [agent.agent_id]);
    expect(await read()).toMatchObject({ status: 503, body: { code: 'book_damaged' } });
    await service.query('update book set damage = null where agent_id = $1', [agent.agent_id]);
  });
});
