import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { payingFetch } from '../harness/buyer.ts';
import { askToStream, listen } from '../harness/doors/listen.ts';
import { ask, CHAT, type Chat, type Service, sharedService } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let shop: ReturnType<typeof policyDoorsOf>;
beforeAll(async () => {
  service = await sharedService();
  shop = policyDoorsOf(service);
});

const intentsOf = async (agent: Agent) => (await shop.bookOf(agent)).intents;
const countsOf = async (agent: Agent, intent: string) => {
  const { collected_count, blocked_count, attempts } = (await intentsOf(agent))[intent] ?? {};
  return { collected_count, blocked_count, attempts: attempts?.length };
};
const named = (intent_id: string, attempt_index: number) => ({ intent_id, attempt_index });
const inHeaders = (intent: string, attempt: string) => ({ 'X-SVC-Intent': intent, 'X-SVC-Attempt': attempt });
const attempted = (counts: [collected: number, blocked: number, attempts: number]) => ({
  collected_count: counts[0],
  blocked_count: counts[1],
  attempts: counts[2],
});

describe('the intents of a book', () => {
  it('count what was collected and what was blocked, list every attempt, and a replay once', async () => {
    const agent = await service.newAgent();
    const count = () => countsOf(agent, 'bill');
    expect((await service.buy(agent.account, ask('First', named('bill', 0)))).status).toBe(200);
    expect(await count()).toEqual(attempted([1, 0, 1]));

    await shop.set(agent, 'kill_switch', true);
    const refused = await service.payment(agent.account, CHAT);
    for (const _ of [1, 2])
      expect((await service.post(CHAT, ask('Second', named('bill', 1)), refused)).status).toBe(403);
    // The same payment gets the same refusal, so it counts as one attempt.
    expect(await count()).toEqual(attempted([1, 1, 2]));

    const key = { 'X-API-Key': 'a-live-key', 'X-SVC-Session': agent.session };
    for (const _ of [1, 2]) expect((await service.post(CHAT, ask('Third', named('bill', 2)), key)).status).toBe(403);
    // Calls by API key have no payment that could identify them, so they count as two attempts.
    expect(await count()).toEqual(attempted([1, 3, 4]));

    await shop.set(agent, 'kill_switch', null);
    expect((await service.post(CHAT, ask('Third', named('bill', 2)), key)).status).toBe(200);
    expect(await count()).toEqual(attempted([1, 3, 5]));

    const payment = await service.payment(agent.account, CHAT);
    for (const _ of [1, 2])
      expect((await service.post(CHAT, ask('Fourth', named('bill', 3)), payment)).status).toBe(200);
    expect(await count()).toEqual(attempted([2, 3, 6]));
    const { attempts } = (await intentsOf(agent)).bill as { attempts: JsonObject[] };
    expect(attempts.map(({ attempt_index, evidence }) => [attempt_index, evidence])).toEqual([
      [0, 'collected'],
      [1, 'policy_blocked'],
      [2, 'policy_blocked'],
      [2, 'policy_blocked'],
      [2, 'UNVERIFIED'],
      [3, 'collected'],
    ]);
  });

  it('are named by headers too, and the body goes first', async () => {
    const agent = await service.newAgent();
    const by = payingFetch(agent.account);
    const buy = (body: JsonObject, headers: Record<string, string>) =>
      service.knock<Chat>('POST', CHAT, { body, headers, by });
    const one = await buy(ask('By header'), inHeaders('from-header', '4'));
    expect(one.body.svc.payload).toMatchObject(named('from-header', 4));
    const both = await buy(ask('Both', { intent_id: 'from-body' }), inHeaders('from-header', '5'));
    expect(both.body.svc.payload).toMatchObject(named('from-body', 5));
    const streamed = await listen(service, askToStream('Streamed'), { headers: inHeaders('from-header', '6'), by });
    expect((await streamed.rest()).svc?.payload).toMatchObject(named('from-header', 6));
    expect(await countsOf(agent, 'from-header')).toEqual(attempted([2, 0, 2]));
    expect(await countsOf(agent, 'from-body')).toEqual(attempted([1, 0, 1]));
  });

  it.each([
    ['X-SVC-Attempt that is no number', inHeaders('bill', '1e2'), 'x-svc-attempt'],
    ['X-SVC-Attempt below zero', inHeaders('bill', '-1'), 'x-svc-attempt'],
    ['X-SVC-Intent that names nothing', inHeaders('', '1'), 'x-svc-intent'],
    ['X-SVC-Intent that is too long', inHeaders('x'.repeat(129), '1'), 'x-svc-intent'],
  ])('400 on %s: the payment stays usable', async (_, headers, param) => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const heard = await service.post(CHAT, ask(), { ...payment, ...headers });
    expect(heard).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param } } });
    expect((await service.post(CHAT, ask(), payment)).status).toBe(200);
  });
});
