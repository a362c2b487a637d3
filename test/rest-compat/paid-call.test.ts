import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { errors } from '../../schema/errors.ts';
import { fail, openRestFixture, payment, type RestFixture, succeed } from '../harness/rest-compat/fake-port.ts';

let house: RestFixture;
beforeAll(async () => {
  house = await openRestFixture();
});
afterAll(() => house.close());
beforeEach(() => {
  house.port.calls.length = 0;
});

const chat = '/v1/chat/completions';
const hello = { messages: [{ role: 'user', content: 'hi' }] };
const paid = { 'payment-signature': payment };

async function problemOf(response: Response): Promise<Record<string, unknown>> {
  expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(response.headers.get('cache-control')).toBe('no-store');
  return (await response.json()) as Record<string, unknown>;
}

describe('a paid call that is refused before it is executed', () => {
  it.each(['payment-signature', 'x-payment'])('400 invalid_payment: %s is not base64 of JSON', async name => {
    const response = await house.post(chat, 'not even JSON', { [name]: '%%%' });
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ code: 'invalid_payment' });
  });

  it('415: another content type', async () => {
    const response = await house.post(chat, 'a=b', { ...paid, 'content-type': 'text/plain' });
    expect(response.status).toBe(415);
  });

  it('415: a compressed body', async () => {
    expect((await house.post(chat, hello, { ...paid, 'content-encoding': 'gzip' })).status).toBe(415);
  });

  it('413: more than 1 MiB', async () => {
    const response = await house.post(chat, `{"x":"${'a'.repeat(1024 * 1024)}"}`, paid);
    expect(response.status).toBe(413);
    expect(await problemOf(response)).toMatchObject({ code: 'request_too_large' });
  });

  it('413: more than 1 MiB in chunks, length unknown', async () => {
    const chunks = new ReadableStream({
      pull: controller => controller.enqueue(new Uint8Array(65_536).fill(32)),
    });
    const request = { method: 'POST', headers: { ...paid, 'content-type': 'application/json' }, body: chunks };
    const response = await fetch(house.url + chat, { ...request, duplex: 'half' } as RequestInit);
    expect(response.status).toBe(413);
  });

  it.each(['', '{', '[]', '"x"', 'null'])('400: the body is %j', async body => {
    const response = await house.post(chat, body, paid);
    expect(response.status).toBe(400);
  });

  it('400: the body is not UTF-8', async () => {
    const init = { method: 'POST', headers: { ...paid, 'content-type': 'application/json' } };
    const response = await fetch(house.url + chat, { ...init, body: new Uint8Array([0x22, 0xff, 0x22]) });
    expect(response.status).toBe(400);
  });

  it.each([
    [{}, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages.0.tool_call_id'],
    [{ messages: [{ role: 'function', content: 'x' }] }, 'messages.0.role'],
    [{ messages: [{ role: 'user' }] }, 'messages.0.content'],
    [{ ...hello, temperature: 2.1 }, 'temperature'],
    [{ ...hello, max_tokens: 1.5 }, 'max_tokens'],
    [{ ...hello, attempt_index: -1 }, 'attempt_index'],
  ])('400: %j names the parameter %s', async (body, param) => {
    const response = await house.post(chat, body, paid);
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({
      type: 'urn:svc402:problem:invalid_request',
      title: errors.invalid_request[1],
      status: 400,
      code: 'invalid_request',
      error: { type: 'invalid_request_error', code: 'invalid_request', param },
    });
  });

  it('403, empty: a wrong session', async () => {
    const response = await house.post(chat, hello, { ...paid, 'x-svc-session': 'wrong' });
    expect([response.status, await response.text()]).toEqual([403, '']);
  });

  it('none of these was executed', () => expect(house.port.calls).toEqual([]));
});

describe('a paid call that is executed', () => {
  it('200: the answer, with the headers of the charge', async () => {
    const headers = { 'PAYMENT-RESPONSE': 'e30=', 'x-svc-task-id': 'task_1', 'x-svc-model': 'modèle' };
    succeed(house.port, { answer: { id: 'chatcmpl-1', svc: { task_id: 'task_1', nothing: null } } }, headers);
    const response = await house.post(chat, hello, paid);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('payment-response')).toBe('e30=');
    expect(response.headers.get('x-svc-model')).toBe('mod?le');
    expect(await response.json()).toEqual({ id: 'chatcmpl-1', usage: null, svc: { task_id: 'task_1', nothing: null } });
  });

  it('hands on the coerced body in camelCase, unknown members gone, intent from the headers', async () => {
    succeed(house.port, { answer: {} });
    const intent = { 'x-svc-intent': 'i-1', 'x-svc-attempt': '3' };
    await house.post(chat, { ...hello, max_tokens: 5, user: 'u' }, { ...paid, ...intent });
    await house.post(chat, { ...hello, intent_id: 'i-2', attempt_index: 0 }, { ...paid, ...intent });
    const input = {
      model: 'svc/auto',
      messages: hello.messages,
      maxTokens: 5,
      temperature: null,
      stream: false,
      intentId: 'i-1',
      attemptIndex: 3,
    };
    const second = { ...input, maxTokens: null, intentId: 'i-2', attemptIndex: 0 };
    expect(house.port.calls.map(({ variables }) => variables)).toEqual([{ input }, { input: second }]);
  });

  it('402 payment_rejected: the challenge again, with the reason', async () => {
    fail(house.port, { code: 'payment_rejected', status: 402, message: 'expired', facts: {} });
    const response = await house.post(chat, hello, paid);
    expect(response.status).toBe(402);
    expect(response.headers.get('payment-required')).not.toBeNull();
    expect(await response.json()).toMatchObject({ x402Version: 1, error: 'expired' });
  });

  it('402 with an offer that the resolver made', async () => {
    const challenge = {
      headers: { 'PAYMENT-REQUIRED': 'own' },
      required: {},
      body: { x402Version: 1, error: 'leg', accepts: [] },
    };
    fail(house.port, { code: 'payment_required', status: 402, message: 'leg', facts: {}, challenge });
    const response = await house.post(chat, hello, paid);
    expect(response.headers.get('payment-required')).toBe('own');
    expect(await response.json()).toEqual(challenge.body);
  });

  it.each([
    ['payment_in_flight', 409, '1'],
    ['settlement_pending', 503, '5'],
    ['chain_unavailable', 503, '10'],
  ] as const)('%s: %i with Retry-After, PAYMENT-RESPONSE and the facts', async (code, status, wait) => {
    fail(
      house.port,
      { code, status, message: 'm', facts: { charged: false, detail: 'no' } },
      { 'payment-response': 'x' },
    );
    const response = await house.post(chat, hello, paid);
    expect(response.status).toBe(status);
    expect(response.headers.get('retry-after')).toBe(wait);
    expect(response.headers.get('payment-response')).toBe('x');
    expect(await problemOf(response)).toMatchObject({ code, charged: false, detail: 'm', status });
  });

  it('Retry-After follows the error where it knows', async () => {
    fail(house.port, { code: 'unavailable', status: 503, message: 'm', facts: { retry_after_seconds: 1.2 } });
    expect((await house.post(chat, hello, paid)).headers.get('retry-after')).toBe('2');
  });

  it('500 says nothing of what broke', async () => {
    fail(house.port, { code: 'internal', status: 500, message: 'SELECT secret', facts: { sql: 'secret' } });
    expect(await (await house.post(chat, hello, paid)).text()).not.toContain('secret');
    house.port.throws = new Error('secret');
    const thrown = await house.post(chat, hello, paid);
    house.port.throws = null;
    expect(thrown.status).toBe(500);
    expect(await problemOf(thrown)).toMatchObject({ code: 'internal', error: { type: 'server_error' } });
  });

  it('500 where the graph gave neither data nor error', async () => {
    house.port.answers = { data: null, errors: [], headers: {} };
    expect((await house.post(chat, hello, paid)).status).toBe(500);
  });
});
