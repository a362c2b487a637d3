import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openRestFixture, payment, type RestFixture, succeed } from '../harness/rest-compat/fake-port.ts';

let house: RestFixture;
beforeAll(async () => {
  house = await openRestFixture();
});
afterAll(() => house.close());
beforeEach(() => {
  house.port.calls.length = 0;
});

it('GET /v1/models: 200, a list', async () => {
  const page = { data: [{ id: 'svc/auto', object: 'model', created: 1, owned_by: 'svc' }], has_more: false };
  succeed(house.port, { answer: page });
  const list = { object: 'list', ...page };
  expect(await (await house.get('/v1/models')).json()).toEqual(list);
});

describe('GET /receipt/{task_id}', () => {
  it.each(['/receipt/task_1', '/receipt/task_1.json', '/receipt/task_1?format=json', '/receipt/task_1/'])(
    '200 at %s: the document',
    async path => {
      succeed(house.port, { answer: { document: { task_id: 'task_1', payment_ref: null } } });
      const response = await house.get(path, { 'x-svc-session': 'wrong', 'payment-signature': '%' });
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ task_id: 'task_1', payment_ref: null });
      expect(house.port.calls).toEqual([{ operation: 'get_receipt', variables: { taskId: 'task_1' } }]);
    },
  );

  it.each(['/receipt/nothing', '/receipt/nothing/preimage', '/task-status?task_id=nothing'])(
    '404 at %s',
    async path => {
      succeed(house.port, { answer: null });
      const response = await house.get(path);
      expect(response.status).toBe(404);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(await response.json()).toMatchObject({ code: 'not_found' });
    },
  );

  it('200 at /preimage: the stored bytes, for ever', async () => {
    const preimage = '{"b":1,"a":"é"}';
    succeed(house.port, { answer: { preimage } });
    const response = await house.get('/receipt/task_1/preimage');
    expect(await response.text()).toBe(preimage);
    expect(response.headers.get('cache-control')).toContain('immutable');
  });
});

it('GET /task-status without task_id: 400', async () => {
  const response = await house.get('/task-status');
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { param: 'task_id' } });
});

it('GET issuer-history: whole, by version, by hash', async () => {
  succeed(house.port, { answer: { versions: [] } });
  const hash = 'a'.repeat(64);
  for (const query of ['', '?version=1', `?hash=${hash}`])
    expect((await house.get(`/.well-known/issuer-history.json${query}`)).status).toBe(200);
  expect(house.port.calls.map(({ variables }) => variables)).toEqual([{}, { version: 1 }, { hash }]);
  expect((await house.get('/.well-known/issuer-history.json?version=0')).status).toBe(400);
});

it.each(['/.well-known/jwks.json', '/.well-known/receipt-policy-history.json'])('GET %s: 200', async path => {
  succeed(house.port, { answer: { keys: [] } });
  expect(await (await house.get(path)).json()).toEqual({ keys: [] });
});

it('GET /health: 200', async () => expect(await (await house.get('/health')).json()).toEqual({ status: 'ok' }));

it('GET /livez: 200, whoever asks, and nobody is asked who it is', async () => {
  const before = house.port.seen.length;
  const heard = await house.get('/livez', { 'x-svc-session': 'wrong' });
  expect([heard.status, await heard.json()]).toEqual([200, { status: 'ok' }]);
  expect(house.port.seen.length).toBe(before);
});

it('GET /readyz: 200, or 503 with what is away', async () => {
  expect((await house.get('/readyz')).status).toBe(200);
  house.port.lacks = ['base', 'log'];
  const heard = await house.get('/readyz');
  expect(heard.status).toBe(503);
  expect(heard.headers.get('retry-after')).not.toBeNull();
  expect(await heard.json()).toMatchObject({ code: 'unavailable', away: ['base', 'log'] });
});

describe('what is no door', () => {
  it.each(['/', '/nothing', '/v1', '/v1/agents/7'])('404 at %s', async path => {
    const response = await house.post(path, 'no JSON at all', { 'payment-signature': payment });
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(await response.json()).toMatchObject({ status: 404, code: 'not_found', error: { param: null } });
  });

  it('404 at a path segment too long, 400 at a broken escape', async () => {
    expect((await house.get(`/receipt/${'a'.repeat(300)}`)).status).toBe(404);
    const broken = await house.get('/receipt/%zz');
    expect(broken.status).toBe(400);
    expect(await broken.json()).toMatchObject({ code: 'invalid_request' });
  });

  it.each([
    ['DELETE', '/v1/models', 'GET, HEAD'],
    ['POST', '/health', 'GET, HEAD'],
    ['PUT', '/v1/agents/7/book', 'GET, HEAD, POST'],
  ])('405 to %s %s, which allows %s', async (method, path, allow) => {
    const response = await fetch(house.url + path, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe(allow);
    expect(await response.json()).toMatchObject({ code: 'method_not_allowed' });
  });
});
