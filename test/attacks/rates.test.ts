import { once } from 'node:events';
import { connect } from 'node:net';
import { createClient } from 'graphql-ws';
import { beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { makePayment } from '../harness/doors/make-payment.ts';
import { ask, CHAT, type Chat, openService, type Service } from '../harness/doors/open-service.ts';

/* Limits on free requests of an address, with each rate set low. Addresses are those that a trusted proxy names in X-Forwarded-For. */

const FREE = 12;
const CREDENTIALS = 4;
const UNPROVEN = 3;
const BODIES = 4_000;
let service: Service;
beforeAll(async () => {
  service = await openService({
    TRUSTED_PROXIES: '127.0.0.1',
    RATE_FREE: `${FREE}/600`,
    RATE_CREDENTIALS: `${CREDENTIALS}/600`,
    RATE_UNPROVEN: `${UNPROVEN}/600`,
    BODIES_BYTES_MAX: `${BODIES}`,
  });
});

let next = 0;
/** An address that no test has used yet. */
const newAddress = () => ({ 'X-Forwarded-For': `198.51.100.${++next}` });
const limited = { status: 429, body: { code: 'rate_limited' } };

async function times<T>(count: number, ask: () => Promise<T>): Promise<T[]> {
  const heard: T[] = [];
  for (let time = 0; time < count; time++) heard.push(await ask());
  return heard;
}

describe('free doors', () => {
  it('429 beyond their rate, with RateLimit and Retry-After; others are not held up, nor is whoever pays', async () => {
    const mine = newAddress();
    const within = await times(FREE, () => service.get('/v1/models', mine));
    expect(within.map(({ status }) => status)).toEqual(Array(FREE).fill(200));
    expect(within.map(({ headers }) => headers.get('RateLimit'))[0]).toBe(`"free";r=${FREE - 1};t=50`);
    expect(within[0]?.headers.get('RateLimit-Policy')).toBe(`"free";q=${FREE};w=600`);
    const beyond = await service.get('/v1/models', mine);
    expect(beyond).toMatchObject(limited);
    expect(Number(beyond.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect((await service.get('/v1/models', newAddress())).status).toBe(200);
    expect((await service.knock('POST', CHAT, { headers: mine })).status).toBe(402);
    const paid = await service.payment(await service.chain.newWallet(), CHAT);
    expect((await service.post<Chat>(CHAT, ask(), { ...mine, ...paid })).status).toBe(200);
    expect((await service.get('/livez', mine)).status).toBe(200);
  });

  it('an IPv6 customer is his /64', async () => {
    const from = (host: number) => ({ 'X-Forwarded-For': `2001:db8:0:7::${host}` });
    let host = 0;
    await times(FREE, () => service.get('/v1/models', from(++host)));
    expect(await service.get('/v1/models', from(++host))).toMatchObject(limited);
    expect((await service.get('/v1/models', { 'X-Forwarded-For': '2001:db8:0:8::1' })).status).toBe(200);
  });

  it('a new port or another spelling is no new address, and what is no address is the proxy’s own', async () => {
    const spellings = (n: number) => [
      `203.0.113.9:${50_000 + n}`,
      `::ffff:203.0.113.9`,
      `[::ffff:203.0.113.9]:${n + 1}`,
    ];
    const from = (n: number) => ({ 'X-Forwarded-For': spellings(n)[n % 3] ?? '' });
    for (let n = 0; n < FREE; n++) expect((await service.get('/v1/models', from(n))).status).toBe(200);
    for (let n = 0; n < 6; n++) expect(await service.get('/v1/models', from(n))).toMatchObject(limited);

    const hidden = (n: number) => ({ 'X-Forwarded-For': `_hidden${n}` });
    for (let n = 0; n < FREE; n++) await service.get('/v1/models', hidden(n));
    for (let n = FREE; n < FREE + 6; n++) expect(await service.get('/v1/models', hidden(n))).toMatchObject(limited);
  });

  it('on /graphql and on sockets it is the same rate; an unpaid purchase there is still 402', async () => {
    const mine = newAddress();
    const query = { query: '{ models { id } }' };
    const heard = await times(FREE, () => service.post('/graphql', query, mine));
    expect(heard.map(({ status }) => status)).toEqual(Array(FREE).fill(200));
    const beyond = await service.post('/graphql', query, mine);
    expect(beyond).toMatchObject({ status: 429, body: { errors: [{ extensions: { code: 'rate_limited' } }] } });
    expect(beyond.headers.get('RateLimit')).toContain('"free";r=0');
    const buying = 'mutation ($input: ChatCompletionInput!) { createChatCompletion(input: $input) { model } }';
    expect((await service.post('/graphql', { query: buying, variables: { input: ask() } }, mine)).status).toBe(402);
    expect(await onSocket(mine)).toMatchObject([{ extensions: { code: 'rate_limited' } }]);
    expect(await onSocket(newAddress())).toBe('answered');
  });
});

/** Runs one query on a new socket. Returns its errors, or `answered`. */
async function onSocket(headers: Record<string, string>): Promise<unknown> {
  class From extends WebSocket {
    constructor(address: string, protocols: string) {
      super(address, protocols, { headers });
    }
  }
  const client = createClient({
    url: `${service.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: From,
    retryAttempts: 0,
  });
  try {
    return await new Promise((resolve, reject) => {
      client.subscribe(
        { query: '{ models { id } }' },
        {
          next: ({ errors }) => resolve(errors ?? 'answered'),
          error: resolve,
          complete: () => reject(new Error('no answer')),
        },
      );
    });
  } finally {
    await client.dispose();
  }
}

describe('credentials that are nobody’s', () => {
  it.each([
    ['sessions', { 'X-SVC-Session': 'nobodys' }, 402],
    ['keys', { 'X-API-Key': 'nobodys' }, 402],
  ])('429 beyond their rate: %s', async (_, shown, status) => {
    const mine = { ...newAddress(), ...shown };
    const callUnpaid = () => service.knock('POST', CHAT, { headers: mine });
    expect((await times(CREDENTIALS, callUnpaid)).map(it => it.status)).toEqual(Array(CREDENTIALS).fill(status));
    const beyond = await callUnpaid();
    expect(beyond).toMatchObject(limited);
    expect(beyond.headers.get('RateLimit')).toContain('"credentials";r=0');
    expect(beyond.text).not.toContain('headers');
    const on_graphql = await service.post('/graphql', { query: '{ models { id } }' }, mine);
    expect([on_graphql.status, on_graphql.text.includes('headers')]).toEqual([429, false]);
  });
});

it('whoever shows what is his is not held up by wrong ones from his address, nor is an unpaid purchase', async () => {
  const mine = newAddress();
  const { agent_id, session } = await service.newAgent();
  const wrong = () => service.knock('POST', CHAT, { headers: { ...mine, 'X-SVC-Session': 'nobodys' } });
  await times(CREDENTIALS + 2, wrong);
  const shown = { ...mine, 'X-SVC-Session': session };
  expect((await service.get(`/v1/agents/${agent_id}/book`, shown)).status).toBe(200);
  expect((await service.knock('POST', CHAT, { headers: shown })).status).toBe(402);
  expect((await service.knock('POST', CHAT, { headers: mine })).status).toBe(402);
});

it('bodies on their way: 429 where one address has too many, on /graphql too; others have room, and whoever pays', async () => {
  const mine = newAddress();
  const held = await heldBodies('/graphql', mine);
  const query = JSON.stringify({ query: `{ models { id } } #${'x'.repeat(900)}` });
  const sent = (path: string, from: Record<string, string>) =>
    service.knock('POST', path, { body: query, headers: from });
  // The limit counts bytes and not requests.
  const crowded = async () => {
    const { status, headers } = await sent('/graphql', mine);
    return [status, headers.get('RateLimit')];
  };
  await expect.poll(crowded).toEqual([429, '"bodies";r=0']);
  expect((await sent('/v1/agents/1/book', mine)).status).not.toBe(200);
  expect((await sent('/graphql', newAddress())).status).toBe(200);
  const { headers } = await makePayment(service, await service.chain.newWallet());
  const buying = 'mutation ($input: ChatCompletionInput!) { createChatCompletion(input: $input) { model } }';
  const bought = await service.post(
    '/graphql',
    { query: buying, variables: { input: ask('x'.repeat(900)) } },
    { ...mine, ...headers },
  );
  expect(bought.status).toBe(200);
  held();
  await expect.poll(async () => (await sent('/graphql', mine)).status).toBe(200);
});

/** Announces a body that is never sent. The returned function closes the connection. */
async function heldBodies(path: string, from: Record<string, string>): Promise<() => void> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: svc.test',
    'Content-Type: application/json',
    `Content-Length: ${BODIES - 100}`,
  ];
  socket.write([...head, ...Object.entries(from).map(([name, value]) => `${name}: ${value}`), '', '{'].join('\r\n'));
  return () => socket.destroy();
}

it('payments that prove nothing: 429 beyond their rate; one that is signed by its payer is never held up', async () => {
  const mine = newAddress();
  const account = await service.chain.newWallet();
  const forged = await makePayment(service, account, {
    sent: { value: '2000' },
    signature: it => `0x11${it.slice(4)}`,
  });
  const send = () => service.post(CHAT, ask(), { ...mine, ...forged.headers });
  expect((await times(UNPROVEN, send)).map(({ status }) => status)).toEqual(Array(UNPROVEN).fill(402));
  expect(await send()).toMatchObject(limited);
  const { headers } = await makePayment(service, account);
  expect((await service.post(CHAT, ask(), { ...mine, ...headers })).status).toBe(200);
});

it('on /graphql it is the same, whoever they say that they are of; what they do not ask is given back', async () => {
  const query = 'mutation ($input: ChatCompletionInput!) { createChatCompletion(input: $input) { model } }';
  const body = { query, variables: { input: ask() } };
  const mine = newAddress();
  const account = await service.chain.newWallet();
  const forged = await makePayment(service, account, { signature: it => `0x11${it.slice(4)}` });
  const send = (sent: object = body) => service.post('/graphql', sent, { ...mine, ...forged.headers });
  const heard = await times(UNPROVEN, () => send());
  expect(heard.map(({ status }) => status)).toEqual(Array(UNPROVEN).fill(402));
  const beyond = await send();
  expect(beyond).toMatchObject({ body: { errors: [{ extensions: { code: 'rate_limited' } }] } });
  expect(beyond.headers.get('RateLimit')).toContain('"unproven";r=0');
  const { headers } = await makePayment(service, account);
  expect((await service.post('/graphql', body, { ...mine, ...headers })).status).toBe(200);

  const wrong = { query, variables: { input: { messages: [] } } };
  const elsewhere = { ...newAddress(), ...forged.headers };
  const unread = await times(UNPROVEN + 1, () => service.post('/graphql', wrong, elsewhere));
  for (const answer of unread) expect(JSON.stringify(answer.body)).not.toContain('rate_limited');
});

it('an X-Forwarded-For that no proxy of ours has written moves nobody', async () => {
  const other = await openService({ RATE_FREE: `${FREE}/600` });
  let host = 0;
  await times(FREE, () => other.get('/v1/models', { 'X-Forwarded-For': `203.0.113.${++host}` }));
  expect(await other.get('/v1/models', { 'X-Forwarded-For': '203.0.113.250' })).toMatchObject(limited);
});
