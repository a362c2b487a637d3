import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openServer, type Server } from '../../../gateway/http/server.ts';
import { Refusal } from '../../../schema/errors.ts';
import { limits } from '../../../schema/limits.ts';
import { nobody } from '../../../schema/principal.ts';
import { logTo, neverHalted, openShop, Shop, shopContext } from '../../harness/graph/shop.ts';

const log: string[] = [];
const shop = new Shop();
let server: Server;
let url: string;

beforeAll(async () => {
  server = await openServer({
    graph: await openShop({ log, introspection: false }),
    async createContext({ headers }) {
      if (headers['x-svc-session'] === 'wrong') throw new Refusal('forbidden');
      if (headers['x-svc-session'] === 'broken') throw new Error('no database at 10.0.0.7');
      return shopContext(shop, { pays: headers['payment-signature'] !== undefined });
    },
    callers: {
      ...neverHalted,
      identify: async () => nobody,
      bookOfSession: async () => null,
      keep: async () => null,
      createContext: principal => shopContext(shop, { principal }),
      watchSessions: async () => () => {},
      catchUp: async () => {},
    },
    async routes(app) {
      app.get('/health', async () => ({ status: 'ok' }));
    },
    logger: logTo(log),
    graphiql: false,
  });
  url = await server.listen('127.0.0.1', 0);
});
afterAll(() => server.close());

async function post(query: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer };
}
interface Answer {
  readonly data?: unknown;
  readonly errors: { readonly message: string; readonly extensions: { readonly code: string } }[];
}
const BUY = 'mutation { buy(item: "apple") { item slip { url } } }';

describe('POST /graphql', () => {
  it('answers a join with 200', async () => {
    const { status, body, headers } = await post('{ sales(first: 1) { item slip { url } } }');
    expect(status).toBe(200);
    expect(body).toEqual({ data: { sales: [{ item: 'apple', slip: { url: 'https://shop.example/slip-1' } }] } });
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('answers an unpaid paid field with 402 and the challenge in the headers only', async () => {
    const { status, body, headers } = await post(BUY);
    expect(status).toBe(402);
    expect(headers.get('payment-required')).toBe('b2ZmZXI=');
    expect(body).toEqual({
      data: null,
      errors: [
        {
          message: 'Payment is required: send the request again with an x402 payment.',
          path: ['buy'],
          extensions: { code: 'payment_required', status: 402, accepts: ['base'] },
        },
      ],
    });
    expect(shop.bought).toBe(0);
  });

  it('answers a paid one with 200 and the headers that the resolver set', async () => {
    const { status, body, headers } = await post(BUY, { 'payment-signature': 'c2lnbmVk' });
    expect(status).toBe(200);
    expect(body).toEqual({ data: { buy: { item: 'apple', slip: { url: 'https://shop.example/slip-1' } } } });
    expect(headers.get('payment-response')).toBe('c2V0dGxlZA==');
  });

  it('refuses a paid field in company with 400, before anything runs', async () => {
    const bought = shop.bought;
    const { status, body } = await post('mutation { buy(item: "a") { item } greet }', {
      'payment-signature': 'c2lnbmVk',
    });
    expect(status).toBe(400);
    expect(body.errors).toMatchObject([{ extensions: { code: 'invalid_request' } }]);
    expect(shop.bought).toBe(bought);
  });

  it('leaves other refusals of fields at 200', async () => {
    const { status, body } = await post('{ closed }');
    expect(status).toBe(200);
    expect(body.errors).toMatchObject([{ extensions: { code: 'forbidden', param: 'door' } }]);
  });

  it('hides what broke and logs it', async () => {
    const { body } = await post('{ broken }');
    expect(body.errors).toMatchObject([{ extensions: { code: 'internal' } }]);
    expect(JSON.stringify(body)).not.toContain('10.0.0.7');
    expect(log.join()).toContain('the till at 10.0.0.7 burns');
  });

  it('answers a context that cannot be made with the status of its Refusal', async () => {
    expect(await post('{ sales { item } }', { 'x-svc-session': 'wrong' })).toMatchObject({
      status: 403,
      body: { errors: [{ extensions: { code: 'forbidden' } }] },
    });
    const broken = await post('{ sales { item } }', { 'x-svc-session': 'broken' });
    expect(broken).toMatchObject({ status: 500, body: { errors: [{ extensions: { code: 'internal' } }] } });
    expect(JSON.stringify(broken.body)).not.toContain('10.0.0.7');
  });

  it.each([
    ['a syntax error', '{ sales'],
    ['an unknown field', '{ nothing }'],
    ['introspection where it is off', '{ __schema { types { name } } }'],
  ])('refuses %s with 400', async (_, query) => {
    const { status, body } = await post(query);
    expect([status, body.errors[0]?.extensions.code]).toEqual([400, 'invalid_request']);
  });

  it('points a subscription to the socket', async () => {
    const { body } = await post('subscription { sold { item } }');
    expect(body.errors[0]).toMatchObject({
      message: expect.stringContaining('WebSocket'),
      extensions: { code: 'invalid_request' },
    });
  });

  it('refuses a body beyond the limit with 413 and one that is no JSON with 400', async () => {
    expect((await post('#'.repeat(limits.request_bytes_max))).status).toBe(413);
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{',
    });
    expect([response.status, ((await response.json()) as Answer).errors[0]?.extensions.code]).toEqual([
      400,
      'invalid_request',
    ]);
  });

  it('refuses a form that another site could post', async () => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: '{"query":"mutation { greet }"}',
    });
    expect(response.status).toBeGreaterThanOrEqual(400);
  });
});

describe('GET /graphql', () => {
  it('answers queries of clients that are no plain browser form', async () => {
    const get = (headers: Record<string, string>) =>
      fetch(`${url}/graphql?query=${encodeURIComponent('{ slip(ref: "a") { url } }')}`, { headers });
    expect((await get({})).status).toBe(400);
    expect(await (await get({ 'apollo-require-preflight': '1' })).json()).toEqual({
      data: { slip: { url: 'https://shop.example/a' } },
    });
  });

  it('answers whoever shows what no other site could have sent, and no password that a browser adds by itself', async () => {
    const get = async (header: string) => {
      const query = encodeURIComponent('{ __typename }');
      return (await fetch(`${url}/graphql?query=${query}`, { headers: { [header]: 'x' } })).status;
    };
    for (const header of ['x-svc-session', 'x-svc-proof', 'x-api-key'])
      expect([header, await get(header)]).toEqual([header, 200]);
    for (const header of ['authorization', 'cookie', 'accept'])
      expect([header, await get(header)]).toEqual([header, 400]);
  });

  it.each(['apollo-require-preflight', 'x-svc-session'])('never runs a mutation, whoever shows %s', async header => {
    const response = await fetch(`${url}/graphql?query=${encodeURIComponent('mutation { greet }')}`, {
      headers: { [header]: '1' },
    });
    expect(response.status).toBe(405);
  });
});

it('serves the other routes beside it', async () => {
  expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: 'ok' });
});
