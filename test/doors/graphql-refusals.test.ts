import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { makePayment } from '../harness/doors/make-payment.ts';
import { ask, CHAT, type Service, sharedService } from '../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

interface Result {
  readonly data?: JsonObject | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: JsonObject }[];
}

const BUY = 'mutation Buy($input: ChatCompletionInput!) { createChatCompletion(input: $input) { model svc } }';
const hello = { messages: [{ role: 'user', content: 'Hello' }] };
const graphql = (body: unknown, headers: Record<string, string> = {}) =>
  service.knock<Result>('POST', '/graphql', { body, headers });
const buy = (input: unknown, headers: Record<string, string>) => graphql({ query: BUY, variables: { input } }, headers);
const hubCalls = () => service.hubs.map(hub => hub.requests.length);

/** A wallet with a payment that was not sent yet. */
async function unspent() {
  const payer = await service.chain.newWallet();
  const payment = await service.payment(payer, CHAT);
  const before = hubCalls();
  return {
    payer,
    payment,
    /** Expects that nothing was claimed, that no hub was called, and that the payment still buys its request. */
    async stillGood() {
      expect(await service.claimsOf(payer)).toEqual([]);
      expect(hubCalls()).toEqual(before);
      expect((await buy(hello, payment)).body.errors).toBeUndefined();
      expect(await service.transfersFrom(payer)).toHaveLength(1);
    },
  };
}

const LONE = '\ud800';

describe('POST /graphql, a paid mutation refused, and the payment stays usable', () => {
  it.each<[string, string, JsonObject]>([
    ['no message', 'messages', { messages: [] }],
    ['an unknown role', 'messages.0.role', { messages: [{ role: 'function', content: 'Hello' }] }],
    ['temperature 3', 'temperature', { ...hello, temperature: 3 }],
    ['max_tokens 0', 'max_tokens', { ...hello, maxTokens: 0 }],
    ['intent_id with U+0000', 'intent_id', { ...hello, intentId: 'a\0' }],
    ['intent_id with half of a surrogate pair', 'intent_id', { ...hello, intentId: LONE }],
    ['attempt_index -1', 'attempt_index', { ...hello, attemptIndex: -1 }],
  ])('invalid_request on %s: param %s', async (_, param, input) => {
    const { payment, stillGood } = await unspent();
    const { body } = await buy(input, payment);
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'invalid_request', status: 400, param });
    await stillGood();
  });

  it('unknown_model', async () => {
    const { payment, stillGood } = await unspent();
    const { body } = await buy({ ...hello, model: 'gamma-1' }, payment);
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'unknown_model', param: 'model' });
    await stillGood();
  });

  it.each<[string, unknown]>([
    ['no input', undefined],
    ['null', null],
    ['text', 'Hello'],
    ['no messages', {}],
    ['a message without a role', { messages: [{ content: 'Hello' }] }],
    ['content that is a number', { messages: [{ role: 'user', content: 7 }] }],
    ['a temperature in quotes', { ...hello, temperature: '1' }],
    ['max_tokens 1.5', { ...hello, maxTokens: 1.5 }],
    ['max_tokens 2^31', { ...hello, maxTokens: 2 ** 31 }],
    ['a member that is not there', { ...hello, user: 'me' }],
  ])('invalid_request on variables that GraphQL itself refuses: %s', async (_, input) => {
    const { payment, stillGood } = await unspent();
    const { body } = await buy(input, payment);
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'invalid_request', status: 400 });
    await stillGood();
  });

  it.each<[string, number, string, Record<string, string>]>([
    ['no JSON', 400, '{{{', {}],
    ['no query', 400, '{}', {}],
    ['a query that is a number', 400, '{"query":7}', {}],
    ['variables that are text', 400, JSON.stringify({ query: BUY, variables: 'input' }), {}],
    ['a member named __proto__', 400, '{"query":"{ models { id } }","__proto__":{"a":1}}', {}],
    ['a body beyond 1 MiB', 413, JSON.stringify({ query: BUY, more: 'x'.repeat(limits.request_bytes_max) }), {}],
    ['another media type', 415, 'query=x', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['plain text, which any site could send', 400, '{"query":"{ models { id } }"}', { 'content-type': 'text/plain' }],
    ['more tokens than are read', 400, JSON.stringify({ query: `{ ${'a '.repeat(limits.graphql_tokens_max)} }` }), {}],
    ['a query nested 900 deep', 400, JSON.stringify({ query: '{a'.repeat(900) + '}'.repeat(900) }), {}],
  ])('%s: %i', async (_, status, body, headers) => {
    const { payment, stillGood } = await unspent();
    const heard = await graphql(body, { ...payment, ...headers });
    expect(heard.status).toBe(status);
    expect(heard.body.errors?.[0]?.extensions).toMatchObject({ status });
    await stillGood();
  });

  it('many operations in one list', async () => {
    const { payment, stillGood } = await unspent();
    const one = { query: BUY, variables: { input: hello } };
    const heard = await graphql([one, one], payment);
    expect(heard).toMatchObject({ status: 400, body: { errors: [{ extensions: { code: 'invalid_request' } }] } });
    await stillGood();
  });

  it('a mutation by GET, also from a client that is no browser', async () => {
    const { payment, stillGood } = await unspent();
    const query = new URLSearchParams({ query: BUY, variables: JSON.stringify({ input: hello }) });
    const get = (headers: Record<string, string>) =>
      service.knock<Result>('GET', `/graphql?${query}`, { headers: { ...payment, ...headers } });
    expect([(await get({})).status, (await get({ 'apollo-require-preflight': '1' })).status]).toEqual([400, 405]);
    await stillGood();
  });

  it('402 on a payment of another amount, with a word of x402', async () => {
    const payer = await service.chain.newWallet();
    const { headers } = await makePayment(service, payer, { signed: { value: 1n } });
    const { status, body } = await buy(hello, headers);
    expect(status).toBe(402);
    expect(body.errors?.[0]?.extensions).toMatchObject({
      code: 'payment_rejected',
      charged: false,
      x402: { error: 'invalid_exact_evm_payload_authorization_value_mismatch' },
    });
    expect(await service.claimsOf(payer)).toEqual([]);
  });

  it('hub_failed where every hub failed: released, and it pays later', async () => {
    const { payer, payment } = await unspent();
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    const { body } = await buy(hello, payment);
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'hub_failed', status: 502, charged: false });
    expect(await service.claimsOf(payer)).toEqual([{ state: 'released', reason: 'hub_failed' }]);
    expect((await buy(hello, payment)).body.errors).toBeUndefined();
  });
});

describe('POST /graphql with a payment that nothing asks for', () => {
  it.each([
    ['a free query', '{ models { id } }'],
    ['introspection', '{ __schema { queryType { name } } }'],
    ['a free mutation', 'mutation { setBudget(agentId: 1, budgetAtomic: "1") { cap } }'],
  ])('%s runs as it would without', async (_, query) => {
    const { payment, stillGood } = await unspent();
    const [paid, free] = [await graphql({ query }, payment), await graphql({ query })];
    expect([paid.status, paid.body]).toEqual([free.status, free.body]);
    expect(paid.headers.has('PAYMENT-RESPONSE')).toBe(false);
    await stillGood();
  });

  it('a free REST door neither takes it nor minds it', async () => {
    const { payment, stillGood } = await unspent();
    expect((await service.get('/v1/models', payment)).status).toBe(200);
    expect((await service.get('/v1/models', { 'PAYMENT-SIGNATURE': '???' })).status).toBe(200);
    await stillGood();
  });
});

it('the same wallet pays at either door after all of it', async () => {
  const { payer, payment } = await unspent();
  expect((await service.post(CHAT, ask(), payment)).status).toBe(200);
  expect(await service.transfersFrom(payer)).toHaveLength(1);
});
