import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { ask, CHAT, type Chat, openService, resetHubsBeforeEach, type Service } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';
import { openSocket } from '../harness/doors/socket.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let book: ReturnType<typeof policyDoorsOf>;
beforeAll(async () => {
  service = await openService({}, { mid_hour: true });
  book = policyDoorsOf(service);
});
resetHubsBeforeEach(() => service);

const shadow = ({ agent_id, session }: Agent, policy_type: string, value: JsonObject[string]) =>
  service.post(`/v1/agents/${agent_id}/book/policy`, { session, policy_type, value, mode: 'shadow' });
const eventsOf = ({ agent_id }: Agent) =>
  service.query<{ kind: string; seq: number; task_id: string; body: JsonObject }>(
    `select kind, seq, task_id, body from book_event where agent_id = $1 and kind <> 'policy_changed' order by position`,
    [agent_id],
  );

describe('a policy in shadow mode', () => {
  it('lets the call pass that it would refuse, and leaves would_block behind the birth of its row', async () => {
    const agent = await service.newAgent();
    await shadow(agent, 'daily_cap', '3000');
    await shadow(agent, 'kill_switch', true);
    const { status, body } = await service.buy(agent.account);
    expect(status).toBe(200);
    const { task_id } = body.svc;
    const [, born, ...told] = await eventsOf(agent);
    expect(born).toMatchObject({ kind: 'born', seq: 2, task_id });
    const period_start = expect.stringMatching(/T00:00:00\.000Z$/);
    const judged_at = expect.any(String);
    const figures = { spent_atomic: '2000', judged_at };
    expect(told).toEqual([
      {
        kind: 'would_block',
        seq: 2,
        task_id,
        body: { policy_code: 'kill_switch', reason: 'The kill switch of this book is on.', ...figures },
      },
      {
        kind: 'would_block',
        seq: 2,
        task_id,
        body: {
          policy_code: 'daily_cap_exceeded',
          policy_key: 'daily_cap',
          cap_atomic: '3000',
          period_start,
          reason: expect.stringContaining('2000 collected, 0 held by calls under way and 2000 asked for'),
          ...figures,
        },
      },
    ]);
    // The row records what was bought and does not mention the policy.
    expect((await book.bookOf(agent)).entries[0]).not.toHaveProperty('policy_code');
  });

  it('leaves nothing of a call that comes to nothing', async () => {
    const agent = await service.newAgent();
    await shadow(agent, 'kill_switch', true);
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    const payment = await service.payment(agent.account, CHAT);
    expect((await service.post(CHAT, ask('Down'), payment)).status).toBe(502);
    expect((await eventsOf(agent)).map(({ kind }) => kind)).toEqual(['born']);
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    await shadow(agent, 'kill_switch', null);
    expect((await service.post(CHAT, ask('Down'), payment)).status).toBe(200);
    // The second call was recorded without the report of a policy.
    expect((await eventsOf(agent)).map(({ kind }) => kind)).toEqual(['born', 'born']);
  });

  it('leaves it of a call by key, too', async () => {
    const agent = await service.newAgent();
    await shadow(agent, 'require_payment_ref', true);
    const key = { 'X-API-Key': 'a-live-key', 'X-SVC-Session': agent.session };
    const { body } = await service.post<Chat>(CHAT, ask('By key'), key);
    expect((await eventsOf(agent)).at(-1)).toMatchObject({
      kind: 'would_block',
      task_id: body.svc.task_id,
      body: { policy_code: 'require_payment_ref' },
    });
  });

  it('leaves none of a call that the book refuses: that has a row of its own', async () => {
    const agent = await service.newAgent();
    await book.set(agent, 'kill_switch', true);
    await shadow(agent, 'tier2_above', '0');
    await book.chatToRefusal(agent);
    expect((await eventsOf(agent)).map(({ kind }) => kind)).toEqual(['born', 'born']);
  });

  it('is told of live: which one, by which figures, and why', async () => {
    const agent = await service.newAgent();
    await shadow(agent, 'hourly_cap', '3000');
    await service.buy(agent.account);
    const query = `subscription { bookRows(agentId: ${agent.agent_id}, after: 3) {
      kind seq wouldBlock { policyCode policyKey spentAtomic capAtomic periodStart judgedAt reason } } }`;
    const wouldBlock = {
      policyCode: 'hourly_cap_exceeded',
      policyKey: 'hourly_cap',
      spentAtomic: '2000',
      capAtomic: '3000',
      periodStart: expect.stringMatching(/:00:00\.000Z$/),
      judgedAt: expect.any(String),
      reason: expect.stringContaining('2000 asked for is more than the hourly_cap of 3000'),
    };
    const socket = openSocket(service, { session: agent.session });
    expect(await socket.first(query)).toEqual({ data: { bookRows: { kind: 'would_block', seq: 2, wouldBlock } } });
    const born = query.replace('after: 3', 'after: 2');
    expect(await socket.first(born)).toEqual({ data: { bookRows: { kind: 'born', seq: 2, wouldBlock: null } } });
  });

  it('is told in policyChanges by its mode', async () => {
    const agent = await service.newAgent();
    await book.set(agent, 'daily_cap', '9000');
    await shadow(agent, 'daily_cap', '5000');
    const query = `query ($agentId: Int!) { policyChanges(agentId: $agentId) { kind policyType mode before after session } }`;
    const { body } = await service.post<{ data: { policyChanges: JsonObject[] } }>(
      '/graphql',
      { query, variables: { agentId: agent.agent_id } },
      { 'X-SVC-Session': agent.session },
    );
    const told = { kind: 'policy_changed', policyType: 'daily_cap', before: null, session: expect.any(String) };
    expect(body.data.policyChanges).toEqual([
      { ...told, mode: 'shadow', after: '5000' },
      { ...told, mode: 'enforce', after: '9000' },
    ]);
  });
});

describe('GET /v1/agents/{agent_id}/book/policy?at=', () => {
  it('200 with both modes as they stood then', async () => {
    const agent = await service.newAgent();
    const path = `/v1/agents/${agent.agent_id}/book/policy`;
    const read = async (at: Date) =>
      (await service.get(`${path}?at=${at.toISOString()}`, { 'X-SVC-Session': agent.session })).body;
    await shadow(agent, 'daily_cap', '5000');
    await book.set(agent, 'hourly_cap', '7000');
    const events = await service.query<{ at: Date }>(
      `select at from book_event where agent_id = $1 and kind = 'policy_changed' order by position`,
      [agent.agent_id],
    );
    const [first, second] = events.map(({ at }) => at);
    if (!first || !second) throw new Error('two changes were made');
    expect(await read(new Date(0))).toMatchObject({ daily_cap: null, hourly_cap: null, shadow: null });
    expect(await read(first)).toMatchObject({ hourly_cap: null, shadow: { daily_cap: '5000' } });
    expect(await read(second)).toMatchObject({ hourly_cap: '7000', shadow: { daily_cap: '5000' } });
  });
});
