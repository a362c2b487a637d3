import { beforeAll, describe, expect, it } from 'vitest';
import { verifyRefusal } from '../../subgraphs/receipt/verify/refusal.ts';
import { askToStream, listen } from '../harness/doors/listen.ts';
import {
  ask,
  CHAT,
  type Chat,
  resetHubsBeforeEach,
  type Service,
  sharedService,
} from '../harness/doors/open-service.ts';
import { policyDoorsOf, type RefusedCallBody } from '../harness/doors/policies.ts';
import { taskOf } from '../harness/doors/tasks.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let book: ReturnType<typeof policyDoorsOf>;
beforeAll(async () => {
  service = await sharedService();
  book = policyDoorsOf(service);
});
resetHubsBeforeEach(() => service);

/**
 * Number of requests that each hub has received. The first hub is tried first, so `svc/auto` is answered by its alpha-1 unless the book
 * excludes that model.
 */
const hubCalls = () => service.hubs.map(({ requests }) => requests.length);
const down = (hub: 0 | 1) => service.hubs[hub].behave({ kind: 'status', status: 500 });

async function limited(...models: string[]): Promise<Agent> {
  const agent = await service.newAgent();
  expect((await book.set(agent, 'model_allowlist', models)).status).toBe(200);
  return agent;
}

describe('svc/auto under a model_allowlist', () => {
  it('chooses among the models that are allowed, whole, streamed and by key', async () => {
    const agent = await limited('beta-1');
    const [alpha_before = 0] = hubCalls();
    const whole = await service.buy(agent.account);
    expect([whole.status, whole.body.model]).toEqual([200, 'beta-1']);
    const payment = await service.payment(agent.account, CHAT);
    const streamed = await (await listen(service, askToStream('Streamed'), { headers: payment })).rest();
    expect(streamed.svc).toMatchObject({ model: 'beta-1', hub: 'beta' });
    const key = { 'X-API-Key': 'a-live-key', 'X-SVC-Session': agent.session };
    expect((await service.post<Chat>(CHAT, ask('By key'), key)).body.model).toBe('beta-1');
    const response = await service.payment(agent.account, '/v1/responses');
    expect((await service.post('/v1/responses', { input: 'Hello' }, response)).body.model).toBe('beta-1');
    expect(hubCalls()[0]).toBe(alpha_before);
  });

  it('chooses a model that the list and a hub share, whichever stands first there; every paid work does', async () => {
    const agent = await limited('alpha-2');
    expect((await service.buy(agent.account)).body).toMatchObject({ model: 'alpha-2', svc: { hub: 'alpha' } });
    const path = '/task-request';
    const task = await service.post<{ task_id: string }>(
      path,
      taskOf(agent.account),
      await service.payment(agent.account, path),
    );
    expect(task.status).toBe(200);
    const [row] = (await book.bookOf(agent)).entries;
    expect(row).toMatchObject({ task_id: task.body.task_id, route: { model: 'alpha-2', hub: 'alpha' } });
  });

  it('502 rather than failover to a model that is not: nothing is charged', async () => {
    const agent = await limited('beta-1');
    const [alpha_before = 0, beta_before = 0] = hubCalls();
    down(1);
    const payment = await service.payment(agent.account, CHAT);
    const failed = await service.post<{ attempts: unknown[] }>(CHAT, ask(), payment);
    expect(failed).toMatchObject({ status: 502, body: { code: 'hub_failed', charged: false } });
    expect([failed.body.attempts.length, ...hubCalls()]).toEqual([1, alpha_before, beta_before + 1]);
    expect(await service.transfersFrom(agent.account)).toHaveLength(1);
  });

  it('fails over from one that is allowed to another that is', async () => {
    const agent = await limited('beta-1', 'alpha-1');
    down(0);
    expect((await service.buy(agent.account)).body.model).toBe('beta-1');
  });

  it('403 with the signed refusal where it allows none of those that could answer', async () => {
    const agent = await limited('gamma-1', 'alpha-3');
    const before = hubCalls();
    const { heard } = await book.chatToRefusal(agent);
    expect(heard.body).toMatchObject({
      refusal_code: 'policy_blocked',
      policy_code: 'model_not_allowed',
      charged: false,
    });
    const jwks = (await service.get('/.well-known/jwks.json')).body as never;
    expect(verifyRefusal(heard.body, jwks)).toMatchObject({ kind: 'valid' });
    expect(hubCalls()).toEqual(before);
    expect(await service.transfersFrom(agent.account)).toHaveLength(1);
    const { entries } = await book.bookOf(agent);
    expect(entries[0]).toMatchObject({ evidence: 'policy_blocked', policy_code: 'model_not_allowed' });
  });
});

describe('a model by its name under a model_allowlist', () => {
  it('403 where it is not on it, 200 where it is', async () => {
    const agent = await limited('alpha-2');
    const { heard } = await book.chatToRefusal(agent, ask('Not this', { model: 'beta-1' }));
    expect(heard.body.policy_code).toBe('model_not_allowed');
    expect((await service.buy(agent.account, ask('This', { model: 'alpha-2' }))).body.model).toBe('alpha-2');
  });

  it('403 by key with a session', async () => {
    const agent = await limited('alpha-2');
    const key = { 'X-API-Key': 'a-live-key', 'X-SVC-Session': agent.session };
    const byKey = await service.post<RefusedCallBody>(CHAT, ask('By key', { model: 'beta-1' }), key);
    expect(byKey).toMatchObject({ status: 403, body: { policy_code: 'model_not_allowed' } });
  });

  it('limits a task and a quote as it limits what answers at once', async () => {
    const agent = await limited('beta-1');
    for (const path of ['/task-request', '/task-quote']) {
      const asked = { ...taskOf(agent.account), model_id: 'alpha-1' };
      const refused = await service.post<RefusedCallBody>(path, asked, await service.payment(agent.account, path));
      expect([path, refused.status, refused.body.policy_code]).toEqual([path, 403, 'model_not_allowed']);
      const routed = await service.post(path, taskOf(agent.account), await service.payment(agent.account, path));
      expect(routed).toMatchObject({ status: 200, body: { svc: { model: 'beta-1', hub: 'beta' } } });
    }
  });
});

describe('what has been paid for', () => {
  it('is not refused when it is worked for again: an allowed model answers, or any where none is', async () => {
    const agent = await service.newAgent();
    const payment = await service.payment(agent.account, CHAT);
    const first = await service.post<Chat>(CHAT, ask('Paid for'), payment);
    const lose = () =>
      service.query('update payment_claim set answer_box = null where task_id = $1', [first.body.svc.task_id]);
    await lose();
    await book.set(agent, 'model_allowlist', ['beta-1']);
    const again = await service.post<Chat>(CHAT, ask('Paid for'), payment);
    expect([again.status, again.body.model]).toEqual([200, 'beta-1']);
    await lose();
    await book.set(agent, 'model_allowlist', ['gamma-1']);
    const once_more = await service.post<Chat>(CHAT, ask('Paid for'), payment);
    expect(once_more).toMatchObject({ status: 200, body: { svc: { settlement_status: 'idempotent_replay' } } });
    expect(await service.transfersFrom(agent.account)).toHaveLength(2);
  });
});
