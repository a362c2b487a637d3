import { randomBytes } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listen } from '../harness/doors/listen.ts';
import { ask, CHAT, type Chat, openService, type Service } from '../harness/doors/open-service.ts';
import { taskOf } from '../harness/doors/tasks.ts';
import { type HubBehaviour, type HubRequest, startTestHub, type TestHub } from '../harness/hub.ts';

let service: Service;
let router: TestHub;
beforeAll(async () => {
  router = await startTestHub({ name: 'router', models: [] });
  router.behave(answering);
  service = await openService({
    ROUTER_URL: router.base_url,
    ROUTER_MODELS: 'some/model,other/listed',
    LOG_LEVEL: 'trace',
    RATE_UNCHARGED: '20/600',
    TRUSTED_PROXIES: 'loopback',
  });
});
beforeEach(() => router.behave(answering));

/** A router that refuses to list its models. */
const answering = ({ method }: HubRequest): HubBehaviour =>
  method === 'GET' ? { kind: 'status', status: 401 } : { kind: 'answer' };

const MODEL = 'router/some/model';
/** Every key that a test has sent. Only the router may receive it. */
const shown: string[] = [];
function newKey(): string {
  const key = `sk-caller-${randomBytes(16).toString('hex')}`;
  shown.push(key);
  return key;
}
const routed = (content?: string, members = {}) => ask(content, { model: MODEL, ...members });
const visit = async () => {
  const payer = await service.chain.newWallet();
  return { payer, payment: await service.payment(payer, CHAT), key: newKey() };
};
const calls = () => router.requests.filter(({ method }) => method === 'POST');

describe('POST /v1/chat/completions for a router/* model', () => {
  it('400 unknown_model for one that is not listed, before the router is asked', async () => {
    const { payer, payment, key } = await visit();
    const refused = await service.post(CHAT, ask('?', { model: 'router/no/such' }), {
      ...payment,
      'X-Router-Key': key,
    });
    expect(refused).toMatchObject({ status: 400, body: { code: 'unknown_model' } });
    expect([await service.claimsOf(payer), calls()]).toEqual([[], []]);
  });

  it('200 by the router, under the key of whoever asks; the receipt costs what it costs', async () => {
    const { payer, payment, key } = await visit();
    const { status, body, headers } = await service.post<Chat>(CHAT, routed(), { ...payment, 'X-Router-Key': key });
    expect(status).toBe(200);
    expect(body).toMatchObject({ model: MODEL, svc: { hub: 'router', model: MODEL, amount: '2000' } });
    expect([headers.get('x-svc-hub'), headers.get('x-svc-model')]).toEqual(['router', MODEL]);
    const call = calls().at(-1);
    expect(call).toMatchObject({ headers: { authorization: `Bearer ${key}` }, body: { model: 'some/model' } });
    expect(call?.headers).not.toHaveProperty('x-router-key');
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('200 as a stream, and by GraphQL', async () => {
    const { payment, key } = await visit();
    const stream = await listen(service, routed('Streamed', { stream: true }), {
      headers: { ...payment, 'X-Router-Key': key },
    });
    expect(stream.headers.get('x-svc-hub')).toBe('router');
    expect((await stream.rest()).text).toContain('some/model');

    const other = await visit();
    const query = 'mutation ($input: ChatCompletionInput!) { createChatCompletion(input: $input) { model hub } }';
    const { body } = await service.post<{ data: unknown }>(
      '/graphql',
      { query, variables: { input: routed() } },
      { ...(await service.payment(other.payer, CHAT)), 'X-Router-Key': other.key },
    );
    expect(body.data).toEqual({ createChatCompletion: { model: MODEL, hub: 'router' } });
    expect(calls().at(-1)?.headers.authorization).toBe(`Bearer ${other.key}`);
  });

  it.each([
    ['no key', {}],
    ['no word for a key', { 'X-Router-Key': 'two words' }],
    ['a key that is too long', { 'X-Router-Key': 'k'.repeat(513) }],
  ])('400 with %s, before any claim: the payment pays later', async (_, headers) => {
    const { payer, payment, key } = await visit();
    const before = calls().length;
    const refused = await service.post(CHAT, routed(), { ...payment, ...headers });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param: 'X-Router-Key' } } });
    expect([await service.claimsOf(payer), calls().length]).toEqual([[], before]);
    expect((await service.post(CHAT, routed(), { ...payment, 'X-Router-Key': key })).status).toBe(200);
  });

  it.each([
    [401, 401, 'router_key_invalid'],
    // A 402 of the router is passed on as 403, because an x402 client would take it for our price.
    [402, 403, 'router_refused'],
    [403, 403, 'router_refused'],
    [404, 502, 'hub_failed'],
    [429, 429, 'hub_rate_limited'],
    [503, 503, 'hub_overloaded'],
  ])('where the router answers %i: %i %s, not charged, and no other answers', async (status, heard, code) => {
    const { payer, payment, key } = await visit();
    const [asked_hubs, before] = [service.hubs.map(hub => hub.requests.length), calls().length];
    router.behave({ kind: 'status', status, body: { error: { message: `Incorrect API key: ${key}` } } });
    const failed = await service.post(CHAT, routed(), { ...payment, 'X-Router-Key': key });
    expect(failed).toMatchObject({
      status: heard,
      body: { code, charged: false, attempts: [{ hub: 'router', reason: `status_${status}` }] },
    });
    expect(failed.text).not.toContain(key);
    expect(service.hubs.map(hub => hub.requests.length)).toEqual(asked_hubs);
    expect(calls()).toHaveLength(before + 1);
    expect(await service.claimsOf(payer)).toEqual([{ state: 'released', reason: code }]);
    router.behave(answering);
    expect((await service.post(CHAT, routed(), { ...payment, 'X-Router-Key': key })).status).toBe(200);
  });

  it('what was bought under a key is that key’s: the same payment with it brings the stored answer, with another 409', async () => {
    const { payment, key } = await visit();
    const first = await service.post<Chat>(CHAT, routed(), { ...payment, 'X-Router-Key': key });
    const before = calls().length;
    const other = await service.post(CHAT, routed(), { ...payment, 'X-Router-Key': newKey() });
    expect(other).toMatchObject({ status: 409, body: { code: 'claim_already_settled' } });
    const again = await service.post<Chat>(CHAT, routed(), { ...payment, 'X-Router-Key': key });
    expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    expect(again.body.svc.payload_hash).toBe(first.body.svc.payload_hash);
    expect(calls()).toHaveLength(before);
  });

  it('409 payment_lapsed after five keys that the router refused, uncharged; a router that is down lapses nothing', async () => {
    const { payer, payment, key } = await visit();
    router.behave({ kind: 'status', status: 503 });
    for (let times = 0; times < 6; times++)
      expect((await service.post(CHAT, routed(), { ...payment, 'X-Router-Key': key })).status).toBe(503);
    router.behave({ kind: 'status', status: 401 });
    for (let times = 0; times < 5; times++)
      expect((await service.post(CHAT, routed(), { ...payment, 'X-Router-Key': newKey() })).status).toBe(401);
    router.behave(answering);
    const before = calls().length;
    const lapsed = await service.post(CHAT, routed(), { ...payment, 'X-Router-Key': key });
    expect(lapsed).toMatchObject({ status: 409, body: { code: 'payment_lapsed', charged: false } });
    // The payment has expired at every endpoint, including one that calls no hub.
    const elsewhere = await service.post('/task-request', taskOf(payer), payment);
    expect(elsewhere).toMatchObject({ status: 409, body: { code: 'payment_lapsed', charged: false } });
    expect([calls().length, await service.transfersFrom(payer)]).toEqual([before, []]);
  });

  it('with a session it is still not vendor_blind: the key says whose it is', async () => {
    const { session } = await service.newAgent();
    const { payment, key } = await visit();
    const headers = { ...payment, 'X-Router-Key': key, 'X-SVC-Session': session };
    const heard = await service.post<Chat>(CHAT, routed(), headers);
    expect([heard.status, heard.headers.get('x-svc-vendor-blind')]).toEqual([200, null]);
    expect(heard.body.svc).not.toHaveProperty('vendor_blind');
  });

  it('a key that comes with another model goes nowhere', async () => {
    const { payment, key } = await visit();
    expect((await service.post(CHAT, ask(), { ...payment, 'X-Router-Key': key })).status).toBe(200);
    expect(JSON.stringify([router.requests, service.hubs.map(hub => hub.requests)])).not.toContain(key);
  });

  it('the models of a router that tells them to nobody without a key are those that are configured', async () => {
    const { body } = await service.get<{ data: { id: string }[] }>('/v1/models');
    expect(body.data.at(-1)?.id).toBe('router/other/listed');
  });

  it('429 for a payer who tries one key after the other, with payments that are each new; what he bought is his', async () => {
    const { payer, payment, key } = await visit();
    const bought = { ...payment, 'X-Router-Key': key };
    expect((await service.post(CHAT, routed(), bought)).status).toBe(200);
    router.behave({ kind: 'status', status: 401 });
    const tried = async () => {
      const fresh = await service.payment(payer, CHAT);
      return service.post(CHAT, routed(), { ...fresh, 'X-Router-Key': newKey() });
    };
    const heard = [];
    for (let times = 0; times < 21 && heard.at(-1)?.status !== 429; times++) heard.push(await tried());
    expect(heard.at(-1)).toMatchObject({ status: 429, body: { code: 'rate_limited', charged: false } });
    expect(Number(heard.at(-1)?.headers.get('Retry-After'))).toBeGreaterThan(0);
    router.behave(answering);
    expect((await service.post(CHAT, routed(), bought)).headers.get('x-svc-settlement-status')).toBe(
      'idempotent_replay',
    );
    const other = { ...(await service.payment(payer, CHAT)) };
    expect((await service.post(CHAT, ask('Not the router'), other)).status).toBe(200);
  });

  it('429 for an API key beside which one router key after the other is tried; without a router key it is served', async () => {
    const by_key = { 'X-API-Key': 'a-live-key', 'X-Forwarded-For': '203.0.113.7' };
    router.behave({ kind: 'status', status: 401 });
    const before = calls().length;
    const heard = [];
    for (let times = 0; times < 21; times++)
      heard.push((await service.post(CHAT, routed(), { ...by_key, 'X-Router-Key': newKey() })).body.code);
    expect(heard).toEqual([...Array(20).fill('router_key_invalid'), 'rate_limited']);
    expect(calls().length - before).toBe(20);
    expect((await service.post(CHAT, ask('Not the router'), by_key)).status).toBe(200);
  });

  it('no key is in any row of the database, nor in any line of the log', async () => {
    expect(shown.length).toBeGreaterThan(10);
    const tables = await service.query<{ name: string }>(
      "select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'",
    );
    expect(tables.length).toBeGreaterThan(5);
    for (const key of shown) {
      // Postgres writes bytes in hex.
      const needles = [key, Buffer.from(key).toString('hex'), Buffer.from(key).toString('base64').slice(0, -4)];
      expect(service.gateway.logs.join('\n')).not.toContain(key);
      for (const { name } of tables)
        expect(
          await service.query(`select 1 from ${name} t where t::text like any($1)`, [needles.map(n => `%${n}%`)]),
        ).toEqual([]);
    }
  });
});
