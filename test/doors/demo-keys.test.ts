import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { verifyReceipt } from '../../subgraphs/receipt/verify/receipt.ts';
import { registrationOf } from '../harness/buyer.ts';
import { askToStream, listen } from '../harness/doors/listen.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { ask, CHAT, type Chat, REGISTER, type Service, sharedService } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';
import { openSocket } from '../harness/doors/socket.ts';

const DEMO = { 'X-API-Key': 'a-demo-key' };

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
let shop: ReturnType<typeof policyDoorsOf>;
beforeAll(async () => {
  service = await sharedService();
  agent = await service.newAgent();
  shop = policyDoorsOf(service);
});

const book = () => `/v1/agents/${agent.agent_id}/book`;
const hubCalls = () => service.hubs.reduce((sum, hub) => sum + hub.requests.length, 0);

const graphql = (query: string, headers: Record<string, string> = {}) =>
  onGraph(service, query, {}, { ...DEMO, ...headers });

/** Everything that a call with a demo key must not change. */
async function standing() {
  const [counted] = await service.query(
    `select (select count(*)::int from agent) as agents, (select count(*)::int from book_row) as rows,
      (select count(*)::int from book_event) as events, (select count(*)::int from refusal) as refusals,
      (select count(*)::int from payment_claim) as claims`,
  );
  const { policy, budget_atomic } = (
    await service.query('select policy, budget_atomic from book where agent_id = $1', [agent.agent_id])
  )[0] as { policy: JsonObject; budget_atomic: string | null };
  return { ...counted, policy, budget_atomic, asked: hubCalls() };
}

describe('a demo key skips payment', () => {
  it('200, with a receipt that says that it was a demo', async () => {
    const { status, body } = await service.post<Chat>(CHAT, ask(), DEMO);
    expect(status).toBe(200);
    expect(body.svc).toMatchObject({
      waived_by: 'demo_key',
      payload: { waived_by: 'demo_key' },
      proof_outcome: 'none',
    });
    const { body: jwks } = await service.get('/.well-known/jwks.json');
    expect(verifyReceipt(body.svc, jwks as never)).toMatchObject({ kind: 'valid', claim_id: 'none' });
    const streamed = await listen(service, askToStream('Demo'), { headers: DEMO });
    expect((await streamed.rest()).svc).toMatchObject({ waived_by: 'demo_key' });
  });

  it('200 to read a book with its session', async () => {
    expect((await service.get(book(), { ...DEMO, 'X-SVC-Session': agent.session })).status).toBe(200);
    expect((await service.get(`${book()}/policy`, { ...DEMO, 'X-SVC-Session': agent.session })).status).toBe(200);
  });
});

describe('a demo key without a payment, under a session: 200 and a demo', () => {
  it('whole or streamed: a receipt that says so, and nothing on the book', async () => {
    const { asked: _, ...before } = await standing();
    const headers = { ...DEMO, 'X-SVC-Session': agent.session };
    const { status, body } = await service.post<Chat>(CHAT, ask(), headers);
    const streamed = await (await listen(service, askToStream('x'), { headers })).rest();
    expect(status).toBe(200);
    for (const svc of [body.svc, streamed.svc]) {
      expect(svc).toMatchObject({ waived_by: 'demo_key', proof_outcome: 'none', payment_ref: null });
      expect(svc).not.toHaveProperty('claim_id');
    }
    expect(await standing()).toMatchObject(before);
  });

  it('its receipt registers nobody: 403', async () => {
    const { body } = await service.post<Chat>(CHAT, ask('Demo'), DEMO);
    const registration = await registrationOf(await service.chain.newWallet(), { task_id: body.svc.task_id });
    const heard = await service.post(REGISTER, registration);
    expect(heard).toMatchObject({ status: 403, body: { code: 'receipt_not_qualifying' } });
  });
});

describe('a demo key beside a payment is ignored', () => {
  it('by a chat: it is charged, lands on the book, and says nothing of the key', async () => {
    const payment = await service.payment(agent.account, CHAT);
    const headers = { ...payment, ...DEMO, 'X-SVC-Session': agent.session };
    const { status, body } = await service.post<Chat>(CHAT, ask('Paid'), headers);
    expect(status).toBe(200);
    const paid = { claim_id: agent.agent_id, amount: '2000', settlement_status: 'settled', vendor_blind: true };
    expect(body.svc).toMatchObject(paid);
    expect(body.svc).not.toHaveProperty('waived_by');
    expect(body.svc.caller_binding).not.toHaveProperty('api_key_hash');
  });

  it('by a registration: the stamp is charged, and opens a book', async () => {
    const account = await service.chain.newWallet();
    const payment = await service.payment(account, REGISTER);
    const heard = await service.post(REGISTER, await registrationOf(account), { ...payment, ...DEMO });
    expect(heard).toMatchObject({ status: 200, body: { agentWallet: account.address } });
  });
});

describe('a demo key writes nothing: 403 at a door', () => {
  it('a registration', async () => {
    const before = await standing();
    const registration = await registrationOf(await service.chain.newWallet());
    expect(await service.post(REGISTER, registration, DEMO)).toMatchObject({ status: 403, text: '' });
    expect(await standing()).toEqual(before);
  });

  it('a registration by a receipt', async () => {
    const account = await service.chain.newWallet();
    const { task_id } = (await service.buy(account)).body.svc;
    const body = await registrationOf(account, { task_id });
    expect(await service.post(REGISTER, body, DEMO)).toMatchObject({ status: 403, text: '' });
    expect((await service.post(REGISTER, body)).status).toBe(200);
  });
});

const writes = () => [
  `mutation { setBudget(agentId: ${agent.agent_id}, budgetAtomic: "1") { agentId } }`,
  `mutation { setBookPolicy(agentId: ${agent.agent_id}, policyType: kill_switch, value: true) { agentId } }`,
  `mutation { rotateSession(agentId: ${agent.agent_id}) { session } }`,
  `mutation { registerAgent(input: { agentWallet: "${agent.agentWallet}" }) { agentId } }`,
];

describe('a demo key writes nothing: forbidden', () => {
  it('on /graphql, by each mutation that writes', async () => {
    const before = await standing();
    for (const query of writes()) {
      const { body } = await graphql(query, { 'X-SVC-Session': agent.session });
      expect(body.errors?.[0]?.extensions, query).toMatchObject({ code: 'forbidden', status: 403 });
    }
    expect(await standing()).toEqual(before);
    expect((await shop.bookOf(agent)).agent_id).toBe(agent.agent_id);
  });

  it('on a socket, by each of them', async () => {
    const before = await standing();
    const socket = openSocket(service, { session: agent.session, api_key: 'a-demo-key' });
    for (const query of writes())
      await expect(socket.first(query), query).rejects.toMatchObject([{ extensions: { code: 'forbidden' } }]);
    expect(await standing()).toEqual(before);
    expect(await socket.first(`{ book(agentId: ${agent.agent_id}) { agentId } }`)).toMatchObject({
      data: { book: { agentId: agent.agent_id } },
    });
  });
});
