import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { payingFetch, registrationOf } from '../harness/buyer.ts';
import { ask, CHAT, type Chat, REGISTER, type Service, sharedService } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let shop: ReturnType<typeof policyDoorsOf>;
beforeAll(async () => {
  service = await sharedService();
  shop = policyDoorsOf(service);
});

const follows = (parent: string) => ({ 'X-SVC-Parent': parent });
const newest = async (agent: Agent) => (await shop.bookOf(agent)).entries[0];
const notOnBook = { status: 403, body: { code: 'parent_not_on_book', charged: false } };
const spentBy = async ({ account }: Agent) => (await service.transfersFrom(account)).length;
const PAID = `mutation Chat($input: ChatCompletionInput!) { createChatCompletion(input: $input) { svc } }`;

describe('a call that names its parent', () => {
  it('lands with it, and its child with that one', async () => {
    const agent = await service.newAgent();
    const child = (await service.buy(agent.account, ask('Child'), follows(agent.task_id))).body.svc.task_id;
    const grandchild = await service.buy(agent.account, ask('Grandchild'), follows(child));
    expect(grandchild.status).toBe(200);
    const { entries } = await shop.bookOf(agent);
    expect(entries.map(({ task_id, parent_ref }) => [task_id, parent_ref])).toEqual([
      [grandchild.body.svc.task_id, child],
      [child, agent.task_id],
      [agent.task_id, undefined],
    ]);
    const path = `/v1/agents/${agent.agent_id}/book/export?format=`;
    const session = { 'X-SVC-Session': agent.session };
    const { body } = await service.get<{ rows: JsonObject[] }>(`${path}json`, session);
    expect(body.rows.map(({ parent_ref }) => parent_ref)).toEqual([null, agent.task_id, child]);
    const [head = '', , second] = (await service.get(`${path}csv`, session)).text.split('\n');
    expect(second?.split(',')[head.split(',').indexOf('parent_ref')]).toBe(agent.task_id);
  });

  it('may name it in the body, which goes before the header', async () => {
    const agent = await service.newAgent();
    const body = ask('Named twice', { parent_ref: agent.task_id });
    expect((await service.buy(agent.account, body, follows('task_of_nobody'))).status).toBe(200);
    expect(await newest(agent)).toMatchObject({ parent_ref: agent.task_id });
  });

  it('may name it on /graphql, by an argument', async () => {
    const agent = await service.newAgent();
    const payment = await service.payment(agent.account, CHAT);
    const input = (parentRef: string | null) => ({ messages: [{ role: 'user', content: 'By argument' }], parentRef });
    const send = (parentRef: string | null) =>
      service.post<JsonObject>('/graphql', { query: PAID, variables: { input: input(parentRef) } }, payment);
    const refused = await send('task_of_nobody');
    expect(refused).toMatchObject({ body: { errors: [{ extensions: notOnBook.body }] } });
    expect((await send(agent.task_id)).body).not.toHaveProperty('errors');
    expect(await newest(agent)).toMatchObject({ parent_ref: agent.task_id });
  });

  it('lands on the book of its session, where its parent must stand, whoever pays', async () => {
    const [agent, payer] = [await service.newAgent(), await service.newAgent()];
    const session = { 'X-SVC-Session': agent.session };
    const send = (parent: string) =>
      service.buy(payer.account, ask(`For another's book ${parent}`), { ...session, ...follows(parent) });
    expect(await send(payer.task_id)).toMatchObject(notOnBook);
    expect((await send(agent.task_id)).status).toBe(200);
    expect(await newest(agent)).toMatchObject({ parent_ref: agent.task_id });
  });

  it('keeps it where its book refuses the call; and a call may follow from the refused one', async () => {
    const agent = await shop.newBlockedAgent();
    const blocked = await shop.chatToRefusal(agent, ask('Refused', { parent_ref: agent.task_id }));
    const { task_id } = blocked.heard.body;
    expect(await newest(agent)).toMatchObject({ task_id, evidence: 'policy_blocked', parent_ref: agent.task_id });
    await shop.set(agent, 'kill_switch', null);
    expect((await service.buy(agent.account, ask('Again'), follows(String(task_id)))).status).toBe(200);
    expect(await newest(agent)).toMatchObject({ evidence: 'collected', parent_ref: task_id });
  });

  it('by a live key with a session lands with it too, and without a session on no book: 403', async () => {
    const agent = await service.newAgent();
    const key = { 'X-API-Key': 'a-live-key', ...follows(agent.task_id) };
    expect(await service.post(CHAT, ask('By key'), key)).toMatchObject(notOnBook);
    const held = await service.post<Chat>(CHAT, ask('By key'), { ...key, 'X-SVC-Session': agent.session });
    expect(held.status).toBe(200);
    expect(await newest(agent)).toMatchObject({ task_id: held.body.svc.task_id, parent_ref: agent.task_id });
  });

  it('is another call than the same with another parent, as with another intent: 409, and the first stands', async () => {
    const agent = await service.newAgent();
    const payment = await service.payment(agent.account, CHAT);
    const send = (parent: Record<string, string>) => service.post<Chat>(CHAT, ask('Once'), { ...payment, ...parent });
    const first = await send(follows(agent.task_id));
    const again = await send(follows(agent.task_id));
    expect(again.body.svc.settlement_status).toBe('idempotent_replay');
    expect(await send(follows(first.body.svc.task_id))).toMatchObject({ status: 409 });
    // The parent is not looked up, because the payment is spent and no answer may call it unused.
    expect(await send(follows('task_of_nobody'))).toMatchObject({
      status: 409,
      body: { code: 'claim_already_settled' },
    });
    expect(await send({})).toMatchObject({ status: 409, body: { code: 'claim_already_settled' } });
    expect(await newest(agent)).toMatchObject({ parent_ref: agent.task_id, replay_count: 1 });
    expect(await spentBy(agent)).toBe(2);
  });

  it('by a wallet without a book lands on none: 403, nothing is claimed, and without it the payment buys', async () => {
    const agent = await service.newAgent();
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    expect(await service.post(CHAT, ask(), { ...payment, ...follows(agent.task_id) })).toMatchObject(notOnBook);
    expect(await service.claimsOf(payer)).toEqual([]);
    expect((await service.post(CHAT, ask(), payment)).status).toBe(200);
  });

  it.each([
    ['nothing', ''],
    ['too long a name', 'x'.repeat(513)],
  ])('400 on X-SVC-Parent with %s: the payment stays usable', async (_, parent) => {
    const agent = await service.newAgent();
    const payment = await service.payment(agent.account, CHAT);
    const heard = await service.post(CHAT, ask(), { ...payment, ...follows(parent) });
    expect(heard).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param: 'x-svc-parent' } } });
    expect((await service.post(CHAT, ask(), payment)).status).toBe(200);
  });

  it('is never a registration, whose book has no row yet: 403, and without it the payment registers', async () => {
    const agent = await service.newAgent();
    const account = await service.chain.newWallet();
    const payment = await service.payment(account, REGISTER);
    const body = await registrationOf(account);
    expect(await service.post(REGISTER, body, { ...payment, ...follows(agent.task_id) })).toMatchObject({
      status: 403,
      body: { code: 'parent_not_on_book' },
    });
    expect((await service.post(REGISTER, body, payment)).status).toBe(200);
  });
});

it('a streamed call that names its parent lands with it', async () => {
  const agent = await service.newAgent();
  const streamed = await payingFetch(agent.account)(service.url + CHAT, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...follows(agent.task_id) },
    body: JSON.stringify(ask('Streamed', { stream: true })),
  });
  expect(streamed.status).toBe(200);
  expect(await streamed.text()).toContain('[DONE]');
  expect(await newest(agent)).toMatchObject({ parent_ref: agent.task_id });
});
