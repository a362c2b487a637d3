import { beforeAll, describe, expect, it } from 'vitest';
import { ask, CHAT, openService, PRICE, type Service } from '../harness/doors/open-service.ts';
import { parseExposition } from '../harness/operations/exposition.ts';

/* Records that someone altered in the database of the running service are not shown as true, and no call is charged because of them. */

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let agent: Agent;
let other: Agent;
beforeAll(async () => {
  service = await openService({}, { meant: /differs in `column` from what was signed|is damaged: / });
  [agent, other] = [await service.newAgent(), await service.newAgent()];
});

const damaged = { status: 500, body: { code: 'record_damaged' } };
const closed = { status: 503, body: { code: 'book_damaged' } };
const session = (of: Agent = agent) => ({ 'X-SVC-Session': of.session });
const book = (of: Agent = agent) => service.get(`/v1/agents/${of.agent_id}/book`, session(of));
const policy = (of: Agent = agent) => service.get(`/v1/agents/${of.agent_id}/book/policy`, session(of));
const sample = async (name: string) =>
  parseExposition(await (await fetch(`${service.url}/metrics`)).text()).samples.get(name);

/** Repeats the check until it holds, because the audit reaches the book only at its next round. */
const until = (look: () => Promise<unknown>) => expect.poll(look, { interval: 100 });

describe('a receipt that was altered', () => {
  const alter = (column: string, value: string, task_id: string) =>
    service.query(`update receipt set ${column} = $1 where task_id = $2`, [value, task_id]);

  it('500 record_damaged wherever it would be shown, logged and counted; whole again once it is restored', async () => {
    const payment = await service.payment(agent.account, CHAT);
    const body = ask('a receipt to be altered');
    const { task_id } = (await service.post<{ svc: { task_id: string } }>(CHAT, body, payment)).body.svc;
    const graph = async (query: string) => {
      const heard = await service.post<{ errors?: { extensions: { code: string } }[] }>(
        '/graphql',
        { query },
        session(),
      );
      return heard.body.errors?.map(({ extensions }) => extensions.code);
    };
    const receipt = `{ receipt(taskId: "${task_id}") { taskId document } }`;
    const joined = `{ book(agentId: ${agent.agent_id}) { entries { taskId receipt { amount } } } }`;

    await alter('amount', '1', task_id);
    for (const path of [
      `/receipt/${task_id}`,
      `/receipt/${task_id}.json`,
      `/receipt/${task_id}/preimage`,
      `/task-status?task_id=${task_id}`,
      `/prove-result?task_id=${task_id}`,
    ])
      expect([path, await service.get(path)]).toEqual([path, expect.objectContaining({ status: 500 })]);
    const again = await service.post(CHAT, body, payment);
    expect(again).toMatchObject(damaged);
    expect(again.text).not.toContain('issuer_signature');
    expect(await graph(receipt)).toEqual(['record_damaged']);
    expect(await graph(joined)).toEqual(['record_damaged']);
    expect(await sample('svc_damaged_records_total{record="receipt"}')).toBeGreaterThanOrEqual(8);
    expect(service.gateway.logs.some(line => line.includes(`"id":"${task_id}","column":"amount"`))).toBe(true);

    await alter('amount', '2000', task_id);
    expect(await service.get(`/receipt/${task_id}`)).toMatchObject({ status: 200, body: { amount: '2000' } });
    expect(await service.post(CHAT, body, payment)).toMatchObject({ status: 200, body: { svc: { task_id } } });
    expect(await graph(joined)).toBeUndefined();
  });

  it('a signed refusal likewise, and the call that was refused is told no other', async () => {
    await service.post(`/v1/agents/${other.agent_id}/book/policy`, {
      session: other.session,
      policy_type: 'kill_switch',
      value: true,
    });
    const payment = await service.payment(other.account, CHAT);
    const refused = await service.post<{ refusal_id: string }>(CHAT, ask('refused'), payment);
    expect(refused.status).toBe(403);
    const { refusal_id } = refused.body;
    await service.query(`update refusal set policy_code = 'daily_cap_exceeded' where refusal_id = $1`, [refusal_id]);
    expect(await service.get(`/refusal/${refusal_id}`)).toMatchObject(damaged);
    expect(await service.post(CHAT, ask('refused'), payment)).toMatchObject(damaged);
    await service.query(`update refusal set policy_code = 'kill_switch' where refusal_id = $1`, [refusal_id]);
    expect(await service.get(`/refusal/${refusal_id}`)).toMatchObject({ status: 200 });
    await service.post(`/v1/agents/${other.agent_id}/book/policy`, {
      session: other.session,
      policy_type: 'kill_switch',
      value: null,
    });
  });
});

describe('a book that was altered under the running service', () => {
  it.each([
    ['row', 'book_row', 'payment_ref', `'base:0x' || repeat('1', 64)`],
    ['counter', 'book', 'spent_atomic', 'spent_atomic - 1'],
    ['allowance', 'book', 'budget_atomic', '1000000000'],
  ])(
    'its %s: closed with a 503 that charges nothing, told in log, metric and health; open again once restored',
    async (what, table, column, value) => {
      const victim = await service.newAgent();
      const where = table === 'book_row' ? 'agent_id = $1 and seq = 1' : 'agent_id = $1';
      const of = [victim.agent_id];
      const [before] = await service.query(`select ${column} as value from ${table} where ${where}`, of);
      await service.query(`update ${table} set ${column} = ${value} where ${where}`, of);
      await until(async () => (await book(victim)).status).toBe(503);

      expect(await book(victim)).toMatchObject(closed);
      expect(await policy(victim)).toMatchObject(closed);
      const paid = await service.transfersFrom(victim.account);
      const payment = await service.payment(victim.account, CHAT);
      const call = () => service.post(CHAT, ask(`on a damaged book: ${what}`), payment);
      expect(await call()).toMatchObject({ ...closed, body: { code: 'book_damaged', charged: false } });
      const by_key = service.post(CHAT, ask(), { ...session(victim), 'X-API-Key': 'a-live-key' });
      expect(await by_key).toMatchObject(closed);
      expect(await service.transfersFrom(victim.account)).toEqual(paid);
      expect(await sample('svc_damaged_books')).toBe(1);
      expect((await service.get('/health')).body).toMatchObject({ status: 'degraded', away: ['books'] });
      expect((await service.get('/readyz')).status).toBe(200);
      const alarmLines = () =>
        service.gateway.logs.filter(line => line.includes(`"agent_id":${victim.agent_id},"what":`));
      await until(async () => alarmLines().length).toBe(1);
      expect(alarmLines()[0]).toContain('"level":60');
      // The books of other agents stay open.
      expect((await book(other)).status).toBe(200);

      await service.query(`update ${table} set ${column} = $2 where ${where}`, [...of, before?.value]);
      await until(async () => (await book(victim)).status).toBe(200);
      // Sends the same payment that was refused with 503.
      expect((await call()).status).toBe(200);
      expect(await service.transfersFrom(victim.account)).toHaveLength(paid.length + 1);
      expect((await service.get('/health')).body).toMatchObject({ away: [] });
    },
  );

  it('a payment that was settling is finished and recorded, on the book as it stands', async () => {
    const victim = await service.newAgent();
    service.gates.alpha.hold();
    const bought = service.buy(victim.account, ask('under way', { model: 'alpha-1' }));
    await until(async () => service.gates.alpha.held()).toBeGreaterThan(0);
    await service.query('update book set hour_atomic = hour_atomic + 1 where agent_id = $1', [victim.agent_id]);
    await until(async () => (await book(victim)).status).toBe(503);
    service.gates.alpha.open();
    const { status, body } = await bought;
    expect(status).toBe(200);
    expect(await service.claimsOf(victim.account)).toMatchObject([{ state: 'recorded' }, { state: 'recorded' }]);
    const [row] = await service.query<{ amount: string }>('select amount from book_row where task_id = $1', [
      body.svc.task_id,
    ]);
    expect(BigInt(row?.amount ?? 0)).toBe(PRICE);
    expect((await service.get(`/receipt/${body.svc.task_id}`)).status).toBe(200);
    await service.query('update book set hour_atomic = hour_atomic - 1 where agent_id = $1', [victim.agent_id]);
    await until(async () => (await book(victim)).status).toBe(200);
  });
});
