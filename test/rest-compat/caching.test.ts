import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { withoutReferences } from '../harness/openapi.ts';
import { openRestFixture, payment, type RestFixture, succeed } from '../harness/rest-compat/fake-port.ts';

let house: RestFixture;
beforeAll(async () => {
  house = await openRestFixture(everyDoor, {}, new Set(['https://app.example']));
});
afterAll(() => house.close());
beforeEach(() => {
  house.port.beyond = [];
  succeed(house.port, {
    answer: {
      document: {},
      keys: [1],
      text: '{"schema":"svc402.book_pull_export.v1"}',
      atom: '<feed/>',
      json: { version: 'https://jsonfeed.org/version/1.1' },
      preimage: '{"a":1}',
    },
  });
});

const kept = everyDoor.filter(({ cache }) => cache !== 'no-store');
const pathOf = (path: string) =>
  path
    .replace('{agent_id}', '1')
    .replace('{level}/{path}', '0/000')
    .replace(/search$/, 'search?q=word')
    .replace(/\{\w+\}/g, 'task_1');

it('kept are keys, histories, models and what describes the service, the log, the board, and a preimage for ever: nothing else', () => {
  expect(kept.map(({ path, cache }) => `${path}: ${cache}`)).toEqual([
    '/v1/models: public, max-age=60',
    '/v1/models/{id}: public, max-age=60',
    '/public/export/{slug}: public, no-cache',
    '/v1/agents/{agent_id}/record: public, max-age=300',
    '/receipt/{id}/preimage: public, max-age=31536000, immutable',
    '/log/checkpoint: public, max-age=2',
    '/log/verifier-keys: public, max-age=60',
    '/log/tile/{level}/{path}: public, max-age=31536000, immutable',
    '/log/tile/entries/{path}: public, max-age=31536000, immutable',
    '/log/totals: public, max-age=2',
    '/v1/board/jobs: public, max-age=2',
    '/v1/board/jobs/{id}: public, max-age=2',
    '/v1/board/posts: public, max-age=2',
    '/v1/board/posts/{id}: public, max-age=2',
    '/v1/board/posts/{id}/comments: public, max-age=2',
    '/v1/board/search: public, max-age=2',
    '/v1/board/feed.atom: public, max-age=2',
    '/v1/board/feed.json: public, max-age=2',
    '/v1/board/endpoints/{host}/score: public, max-age=2',
    '/.well-known/jwks.json: public, max-age=60',
    '/.well-known/did.json: public, max-age=60',
    '/.well-known/issuer-history.json: public, max-age=60',
    '/.well-known/receipt-policy-history.json: public, max-age=60',
    '/.well-known/revocations: public, max-age=60',
    '/stats: public, max-age=60',
    '/.well-known/log-breaks.json: public, no-cache',
    '/.well-known/x402: public, max-age=300',
    '/.well-known/agent-card.json: public, max-age=300',
    '/.well-known/agent.json: public, max-age=300',
    '/openapi.json: public, max-age=300',
    '/.well-known/x402list.txt: public, max-age=300',
    '/llms.txt: public, max-age=300',
    '/robots.txt: public, max-age=300',
    '/.well-known/security.txt: public, max-age=300',
  ]);
  // Answers that are sold, that require possession, or that change from one moment to the next are not cached.
  for (const { price, possession, unkept_with } of kept)
    expect([price, possession]).toEqual([null, unkept_with === null ? 'none' : 'offered']);
});

it('what somebody asks of their own is kept nowhere, though the same door says what may be kept', async () => {
  const { headers } = await house.get('/v1/agents/1/record?opt_in=1');
  expect([headers.get('cache-control'), headers.get('etag')]).toEqual(['no-store', null]);
});

describe.each(kept.map(door => [pathOf(door.path), door] as const))('GET %s', (path, door) => {
  it('200 with an ETag, 304 without a body to whoever shows it', async () => {
    const first = await house.get(path);
    const etag = first.headers.get('etag') ?? '';
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, door.cache]);
    expect(etag).toMatch(/^W\/"[0-9a-f]{32}"$/);
    expect((await first.text()).length).toBeGreaterThan(0);
    for (const shown of [etag, etag.slice(2), `"other", ${etag}`, ` *`]) {
      const again = await house.get(path, { 'if-none-match': shown });
      expect([again.status, await again.text()]).toEqual([304, '']);
      // RFC 9110 15.4.5: a 304 repeats all headers that tell a cache how to proceed.
      for (const name of ['etag', 'cache-control', 'vary', 'RateLimit'])
        expect(again.headers.get(name), name).toBe(first.headers.get(name));
      expect(again.headers.has('content-type')).toBe(false);
    }
    const head = await fetch(house.url + path, { method: 'HEAD', headers: { 'if-none-match': etag } });
    expect(head.status).toBe(304);
    expect((await house.get(path, { 'if-none-match': '"other", W/"another"' })).status).toBe(200);
  });

  it('is another for each origin only as far as that may read it', async () => {
    const named = (await house.get(path, { origin: 'https://app.example' })).headers;
    expect(named.get('vary')).toBe('accept-encoding, Origin');
    expect(named.get('access-control-allow-origin')).toBe('https://app.example');
  });

  it('is nothing to be kept where it is refused', async () => {
    house.port.beyond = ['free'];
    const refused = await house.get(path, { 'if-none-match': '*' });
    expect([refused.status, refused.headers.get('cache-control')]).toEqual([429, 'no-store']);
    expect(refused.headers.has('etag')).toBe(false);
  });
});

it('another document has another ETag, and what is not found has none', async () => {
  const first = await house.get('/.well-known/jwks.json');
  const etag = first.headers.get('etag') ?? '';
  succeed(house.port, { answer: { keys: [1, 2] } });
  const second = await house.get('/.well-known/jwks.json', { 'if-none-match': etag });
  expect(second.status).toBe(200);
  expect(second.headers.get('etag')).not.toBe(etag);
  succeed(house.port, { answer: null });
  const missing = await house.get('/.well-known/issuer-history.json?version=7', { 'if-none-match': '*' });
  expect([missing.status, missing.headers.get('cache-control'), missing.headers.get('etag')]).toEqual([
    404,
    'no-store',
    null,
  ]);
});

it('what is sold, possessed or in flux says no-store, and has no ETag to ask by', async () => {
  succeed(house.port, { answer: { document: {} } });
  for (const [path, headers] of [
    ['/receipt/task_1', {}],
    ['/v1/agents/7/book', { 'x-svc-session': 'good' }],
    ['/v1/agents/7/book', {}],
    ['/v1/chat/completions', { 'payment-signature': payment }],
    ['/health', {}],
    ['/task-status?task_id=1', {}],
  ] as const) {
    const heard = await house.get(path, { ...headers, 'if-none-match': '*' });
    expect([heard.headers.get('cache-control'), heard.headers.get('etag')], path).toEqual(['no-store', null]);
  }
});

it('OpenAPI tells of ETag, If-None-Match and 304 where a document is kept, and nowhere else', async () => {
  const { paths } = withoutReferences(await (await house.get('/openapi.json')).json()) as {
    paths: Record<string, Record<string, { responses: Record<number, { headers: object }>; parameters: object[] }>>;
  };
  for (const { path, methods, cache } of everyDoor)
    for (const method of methods) {
      const { responses = {}, parameters = [] } = paths[path]?.[method.toLowerCase()] ?? {};
      const told = [304 in responses, JSON.stringify(parameters).includes('If-None-Match')];
      expect(told, path).toEqual([cache !== 'no-store', cache !== 'no-store']);
      if (cache !== 'no-store')
        for (const status of [200, 304]) expect(responses[status]?.headers).toHaveProperty('ETag');
    }
});
