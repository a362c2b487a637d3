import { beforeAll, describe, expect, it } from 'vitest';
import { makePayment } from '../harness/doors/make-payment.ts';
import { ask, CHAT, type Service, sharedService } from '../harness/doors/open-service.ts';

/*
 * Requests that are refused before their payment is looked up. The payment may have been charged for an earlier request, and the error
 * states whether it was.
 */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

interface Faulty {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const faults: [what: string, faulty: Faulty][] = [
  ['a header of the service that it does not read', { headers: { 'X-SVC-Sesion': 'a' } }],
  ['a query parameter that the endpoint does not know', { path: `${CHAT}?modle=x` }],
  ['a body that is not valid', { body: { messages: 'none' } }],
  ['a body that is no JSON', { body: '{' }],
  ['a member twice in one object', { body: '{"messages":[],"messages":[]}' }],
];

describe.each(faults)('POST /v1/chat/completions 400 of %s', (_, { path = CHAT, headers = {}, body = ask() }) => {
  it('charged: true beside a payment that was charged, and no client repeats the request by itself', async () => {
    const payer = await service.chain.newWallet();
    const paid = await makePayment(service, payer);
    expect((await service.post(CHAT, ask(), paid.headers)).status).toBe(200);
    const refused = await service.post(path, body, { ...paid.headers, ...headers });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request', charged: true } });
    expect(refused.body.detail).toContain('was charged before');
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('charged: false beside one that is unused, which then buys what is asked for', async () => {
    const payer = await service.chain.newWallet();
    const paid = await makePayment(service, payer);
    const refused = await service.post(path, body, { ...paid.headers, ...headers });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request', charged: false } });
    expect(refused.headers.get('x-should-retry')).toBe(null);
    expect((await service.post(CHAT, ask(), paid.headers)).status).toBe(200);
  });
});

it('POST /v1/chat/completions 400 without a payment, by a key: nothing is said of one', async () => {
  const refused = await service.post(`${CHAT}?modle=x`, ask(), { 'X-API-Key': 'a-live-key' });
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  expect(refused.body).not.toHaveProperty('charged');
});

it('a tool call that is refused before it comes to its endpoint says charged: true beside a payment that was charged', async () => {
  const paid = await makePayment(service, await service.chain.newWallet());
  expect((await service.post(CHAT, ask(), paid.headers)).status).toBe(200);
  const payment = JSON.parse(Buffer.from(Object.values(paid.headers)[0] ?? '', 'base64').toString());
  const params = {
    name: 'chat_completions',
    arguments: { ...ask(), stream: true },
    _meta: { 'x402/payment': payment },
  };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const answer = await fetch(`${service.url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(call),
  });
  expect(await answer.json()).toMatchObject({
    result: { isError: true, structuredContent: { status: 400, charged: true } },
  });
});
