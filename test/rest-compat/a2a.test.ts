import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { a2aLimits } from '../../schema/limits.ts';
import { fail, openRestFixture, payment, type RestFixture, succeed } from '../harness/rest-compat/fake-port.ts';

/* What JSON-RPC at the door of chats does by itself, with a fake service behind it: refusals passed on, turns, and readers that leave. */

let house: RestFixture;
beforeAll(async () => {
  house = await openRestFixture();
});
afterAll(() => house.close());
beforeEach(() => {
  const { port } = house;
  Object.assign(port, { beyond: [], crowded: false, throws: null });
  port.calls.splice(0);
  port.taken.splice(0);
});

const OFFER = `offer_${Buffer.from(JSON.stringify({ model: 'm', messages: [] })).toString('base64url')}`;
const EXTENSION = { 'A2A-Extensions': 'https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2' };
const call = (method: string, params: JsonObject, headers: Record<string, string> = {}) =>
  house.post('/a2a-message', { jsonrpc: '2.0', id: 1, method, params }, { 'A2A-Version': '1.0', ...headers });
const task = (state: string): JsonObject => ({
  answer: { task_id: 'task_1', state, at: '2026-11-27T00:00:00Z', context_id: 'task_1', is_buyers: true },
});

it.each([
  [503, 'unavailable'],
  [429, 'rate_limited'],
] as const)(
  'GetTask of an offer whose look-up is refused: %i, and not that nobody has bought it',
  async (status, code) => {
    fail(house.port, { code, status, message: code, facts: {} });
    expect((await call('GetTask', { id: OFFER })).status).toBe(status);
  },
);

it('GetTask of an offer that nobody has bought: it needs input', async () => {
  succeed(house.port, { answer: null });
  const { result } = (await (await call('GetTask', { id: OFFER })).json()) as { result: JsonObject };
  expect(result).toMatchObject({ id: OFFER, status: { state: 'TASK_STATE_INPUT_REQUIRED' } });
});

it.each(['GetTask', 'CancelTask', 'SubscribeToTask', 'ListTasks'])(
  '%s takes one turn, and 429 without one: nothing is looked up',
  async method => {
    succeed(house.port, { answer: null });
    await (await call(method, { id: OFFER })).text();
    expect(house.port.taken).toEqual(['free']);
    house.port.calls.splice(0);
    house.port.beyond = ['free'];
    const refused = await call(method, { id: OFFER });
    expect([refused.status, ((await refused.json()) as JsonObject).jsonrpc]).toEqual([429, '2.0']);
    expect(house.port.calls).toEqual([]);
  },
);

it('SubscribeToTask: whoever hangs up is looked after no longer', async () => {
  succeed(house.port, task('working'));
  const leaving = new AbortController();
  const answer = await fetch(`${house.url}/a2a-message`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'A2A-Version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id: 'task_1' } }),
    signal: leaving.signal,
  });
  await answer.body?.getReader().read();
  await expect.poll(() => house.port.calls.length).toBeGreaterThan(1);
  leaving.abort();
  const rounds = (count: number) => new Promise(resolve => setTimeout(resolve, count * 500));
  // The round in progress may still complete.
  await rounds(1);
  const looked = house.port.calls.length;
  await rounds(2);
  expect(house.port.calls.length).toBe(looked);
});

it('SubscribeToTask: a fault that passes is asked again, and a refusal that lasts is its last event', async () => {
  succeed(house.port, task('working'));
  const reader = (await call('SubscribeToTask', { id: 'task_1' }, { 'X-API-Key': 'live' })).body
    ?.pipeThrough(new TextDecoderStream())
    .getReader();
  expect((await reader?.read())?.value).toContain('TASK_STATE_WORKING');
  fail(house.port, { code: 'unavailable', status: 503, message: 'away', facts: {} });
  const before = house.port.calls.length;
  await expect.poll(() => house.port.calls.length).toBeGreaterThan(before + 1);
  // The follower has already proven itself: only the very first look used the key.
  expect(house.port.seen.slice(-2).map(({ api_key }) => api_key)).toEqual([null, null]);
  fail(house.port, { code: 'not_found', status: 404, message: 'gone', facts: {} });
  expect((await reader?.read())?.value).toContain('"error"');
  expect((await reader?.read())?.done).toBe(true);
});

it('SubscribeToTask: 429 where its address follows too many, and room again once one has left', async () => {
  succeed(house.port, task('working'));
  const leaving = Array.from({ length: a2aLimits.followed_per_address_max }, () => new AbortController());
  const subscribe = (signal?: AbortSignal) =>
    fetch(`${house.url}/a2a-message`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'A2A-Version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id: 'task_1' } }),
      ...(signal && { signal }),
    });
  // Kept referenced, because fetch closes a response that was garbage-collected.
  const held: Response[] = [];
  for (const { signal } of leaving) held.push(await subscribe(signal));
  expect((await subscribe()).status).toBe(429);
  expect(held.every(({ status }) => status === 200)).toBe(true);
  for (const left of leaving) left.abort();
  const again = new AbortController();
  await expect.poll(async () => (await subscribe(again.signal)).status).toBe(200);
  again.abort();
});

it('SendMessage with a proven payment is read where its address has no room: that payment has', async () => {
  house.port.crowded = true;
  succeed(house.port, { answer: { id: 'chatcmpl-1', choices: [], svc: { task_id: 'task_1' } } });
  const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] };
  const paid = await call('SendMessage', { message }, { 'PAYMENT-SIGNATURE': payment });
  expect([paid.status, await paid.json()]).toMatchObject([
    200,
    { result: { task: { status: { state: 'TASK_STATE_COMPLETED' } } } },
  ]);
  expect((await call('SendMessage', { message })).status).toBe(402);
});

it.each<[string, string, JsonObject]>([
  ['a network', '1.0', { metadata: { 'x402.payment.payload': { x402Version: 1, network: { toString: 1 } } } }],
  ['a role', '0.3', { role: { toString: 1 } }],
])('-32602 on %s that is no text', async (_, version, members) => {
  const part: JsonObject = version === '0.3' ? { kind: 'text', text: 'Hello' } : { text: 'Hello' };
  const message = { messageId: 'm1', role: 'ROLE_USER', parts: [part], taskId: OFFER, ...members };
  const method = version === '0.3' ? 'message/send' : 'SendMessage';
  const heard = await call(method, { message }, { 'A2A-Version': version, ...EXTENSION });
  expect([heard.status, ((await heard.json()) as { error: JsonObject }).error.code]).toEqual([200, -32602]);
});
