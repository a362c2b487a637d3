import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { answerHeaders, exposedHeaders } from '../../rest-compat/faces/openapi-headers.ts';
import { limits } from '../../schema/limits.ts';
import { withoutReferences } from '../harness/openapi.ts';
import { fail, openRestFixture, type RestFixture, succeed } from '../harness/rest-compat/fake-port.ts';

const PAGE = 'https://app.example';
const OTHER = 'https://other.example';
const asking = (origin: string, method = 'POST') => ({ origin, 'access-control-request-method': method });

let open: RestFixture;
let narrowed: RestFixture;
let shut: RestFixture;
beforeAll(async () => {
  [open, narrowed, shut] = await Promise.all([
    openRestFixture(everyDoor, {}, '*'),
    openRestFixture(everyDoor, {}, new Set([PAGE])),
    openRestFixture(everyDoor, {}, new Set()),
  ]);
});
afterAll(() => Promise.all([open.close(), narrowed.close(), shut.close()]));
beforeEach(() => {
  for (const { port } of [open, narrowed, shut]) {
    port.taken.length = 0;
    port.seen.length = 0;
    port.beyond = [];
  }
});

const options = (house: RestFixture, path: string, headers: Record<string, string> = {}) =>
  fetch(house.url + path, { method: 'OPTIONS', headers });
const crossOrigin = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'));

describe('OPTIONS', () => {
  const paths = [...Map.groupBy(everyDoor, ({ path }) => path)];

  it.each(paths)('204 at %s, with the methods that it has', async (path, here) => {
    const heard = await options(open, path.replace(/\{\w+\}/g, '7'));
    expect([heard.status, await heard.text(), heard.headers.get('content-length')]).toEqual([204, '', null]);
    const served = here.flatMap(({ methods }) => methods as readonly string[]);
    const allow = heard.headers.get('allow')?.split(', ') ?? [];
    expect(allow.filter(method => method !== 'HEAD' && method !== 'OPTIONS').sort()).toEqual([...served].sort());
    expect(allow.includes('HEAD')).toBe(served.includes('GET'));
  });

  it('costs nothing: no meter runs, nobody is asked who it is, and no body is waited for', async () => {
    open.port.beyond = ['free', 'unproven', 'credentials'];
    for (const path of ['/v1/chat/completions', '/v1/models', '/v1/agents/7/book', '/nothing'])
      await options(open, path, { ...asking(PAGE), 'x-svc-session': 'wrong', 'payment-signature': '%' });
    expect([open.port.taken, open.port.seen, open.port.calls]).toEqual([[], [], []]);
    const body = new ReadableStream({ pull: stream => stream.enqueue(new Uint8Array(16_384)) });
    const heard = await fetch(`${open.url}/v1/chat/completions`, { method: 'OPTIONS', body, duplex: 'half' });
    expect(heard.status).toBe(204);
  });

  it('says to a page what it may send, to any path, so that it hears what comes of it', async () => {
    const heard = await options(open, '/v1/agents/7/book', asking(PAGE));
    expect(crossOrigin(heard)).toEqual({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS',
      'access-control-allow-headers': expect.any(String),
      'access-control-max-age': '7200',
    });
    for (const path of ['/nothing', '/receipt/%zz', `/receipt/${'a'.repeat(300)}`]) {
      const nowhere = await options(open, path, asking(PAGE));
      expect([nowhere.status, nowhere.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    }
    expect((await options(open, '/nothing')).status).toBe(404);
  });

  it('lets a page send every header that a door reads', async () => {
    const heard = await options(open, '/v1/chat/completions', asking(PAGE));
    const allowed = heard.headers.get('access-control-allow-headers')?.split(', ') ?? [];
    const { paths, components } = withoutReferences(await (await open.get('/openapi.json')).json()) as {
      paths: Record<string, Record<string, { parameters: { in: string; name: string }[] }>>;
      components: { securitySchemes: Record<string, { in?: string; name?: string }> };
    };
    const parameters = Object.values(paths).flatMap(item => Object.values(item).flatMap(it => it.parameters));
    const read = [...parameters, ...Object.values(components.securitySchemes)].filter(it => it.in === 'header');
    const names = [...new Set(read.map(({ name = '' }) => name.toLowerCase()))];
    expect(names.length).toBeGreaterThan(8);
    expect(allowed).toEqual(expect.arrayContaining(names));
    expect(allowed).toEqual(
      expect.arrayContaining(['authorization', 'content-type', 'access-control-expose-headers', 'x-svc-agent', '*']),
    );
  });
});

describe('what a page may read', () => {
  it('is every header of our answers by name, in few bytes, and only where a page asks', async () => {
    const told = exposedHeaders.split(', ');
    const ours = Object.values(answerHeaders).flatMap(group => Object.keys(group));
    expect([...told, 'Cache-Control'].sort()).toEqual([...new Set(ours)].sort());
    for (const name of ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE', 'Retry-After', 'RateLimit'])
      expect(told).toContain(name);
    for (const name of ['RateLimit-Policy', 'x-request-id', 'ETag', 'x-should-retry', 'x-svc-task-id'])
      expect(told).toContain(name);
    expect(exposedHeaders.length).toBeLessThan(700);
    succeed(open.port, { models: [] });
    const asked = crossOrigin(await open.get('/v1/models', { origin: PAGE }));
    expect(asked).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': exposedHeaders,
    });
    const unasked = crossOrigin(await open.get('/v1/models'));
    expect(unasked['access-control-expose-headers']).toBeUndefined();
  });

  it.each<[string, number, (house: RestFixture) => Promise<Response>]>([
    ['a challenge', 402, house => house.get('/v1/chat/completions', { origin: PAGE })],
    ['no possession', 401, house => house.get('/v1/agents/7/book', { origin: PAGE })],
    ['a wrong session', 403, house => house.get('/v1/agents/7/book', { origin: PAGE, 'x-svc-session': 'wrong' })],
    ['no path of ours', 404, house => house.get('/nothing', { origin: PAGE })],
    ['a segment too long', 404, house => house.get(`/receipt/${'a'.repeat(300)}`, { origin: PAGE })],
    ['a broken escape', 400, house => house.get('/receipt/%zz', { origin: PAGE })],
    ['a method that is none', 405, house => house.post('/v1/models', {}, { origin: PAGE })],
    [
      'a body too large',
      413,
      house =>
        house.post('/v1/agents/7/book', ' '.repeat(limits.small_request_bytes_max + 1), {
          origin: PAGE,
          'x-svc-session': 'good',
        }),
    ],
    [
      'another media type',
      415,
      house =>
        house.post('/v1/agents/7/book', 'x', { origin: PAGE, 'x-svc-session': 'good', 'content-type': 'text/html' }),
    ],
    ['a door that broke', 500, house => house.get('/task-status?task_id=1', { origin: PAGE })],
  ])('is said with %s, too: %i', async (_, status, asked) => {
    for (const house of [open, narrowed, shut]) {
      house.port.throws = status === 500 ? new Error('broken') : null;
      const heard = await asked(house);
      house.port.throws = null;
      expect(heard.status).toBe(status);
      const told = crossOrigin(heard);
      if (house === open) expect(told).toEqual(readBy('*'));
      if (house === narrowed) expect(told).toMatchObject(readBy(PAGE));
      if (house === shut) expect(told).toEqual({});
    }
  });

  it('is said with a request whose headers are too many to be read', async () => {
    const large = { origin: PAGE, 'x-payment': 'A'.repeat(limits.request_headers_bytes_max) };
    const originHeaders = async (house: RestFixture) => crossOrigin(await house.get('/v1/models', large));
    expect(await originHeaders(open)).toEqual({ 'access-control-allow-origin': '*' });
    expect([await originHeaders(narrowed), await originHeaders(shut)]).toEqual([{}, {}]);
  });
});

const readBy = (origin: string) => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': exposedHeaders,
});

describe('CORS_ORIGINS with one origin', () => {
  it('lets its pages call, and says that the answer depends on who asks', async () => {
    fail(narrowed.port, { code: 'not_found', message: '', status: 404, facts: {} });
    expect(crossOrigin(await narrowed.get('/receipt/1', { origin: PAGE }))).toEqual({
      ...readBy(PAGE),
      vary: 'accept, Origin',
    });
    const asked = crossOrigin(await options(narrowed, '/v1/chat/completions', asking(PAGE)));
    expect(asked).toMatchObject({ 'access-control-allow-origin': PAGE, vary: 'Origin' });
    expect(asked['access-control-allow-methods']).toBe('POST, OPTIONS');
  });

  it.each([OTHER, 'null', `${PAGE}.evil.example`, 'http://app.example', PAGE.toUpperCase(), '*'])(
    'says nothing to pages of %s',
    async origin => {
      for (const asked of [
        await options(narrowed, '/v1/chat/completions', asking(origin)),
        await narrowed.get('/nothing', { origin }),
        await narrowed.get('/receipt/%zz', { origin }),
      ])
        expect(Object.keys(crossOrigin(asked)).filter(name => name !== 'vary')).toEqual([]);
    },
  );

  it('says without an Origin that it would depend on one', async () => {
    expect(crossOrigin(await narrowed.get('/nothing'))).toEqual({ vary: 'Origin' });
  });
});

it('no credentials are ever allowed: a cookie says nothing here', async () => {
  for (const house of [open, narrowed])
    expect((await options(house, '/v1/models', asking(PAGE))).headers.has('access-control-allow-credentials')).toBe(
      false,
    );
});
