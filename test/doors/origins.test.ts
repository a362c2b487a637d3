import { request } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { exposedHeaders } from '../../rest-compat/faces/openapi-headers.ts';
import { canonicalJson, type JsonObject } from '../../schema/canonical-json.ts';
import { sha256Hex } from '../../schema/digest.ts';
import { limits } from '../../schema/limits.ts';
import { HOST, open } from '../harness/attacks/raw.ts';
import { ask, type Chat, openService, type Service } from '../harness/doors/open-service.ts';

const PAGE = 'https://app.example';

let service: Service;
beforeAll(async () => {
  service = await openService({ CORS_ORIGINS: `http://127.0.0.1:3000, ${PAGE}`, RATE_FREE: '1000/86400' });
});

const crossOrigin = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));
const readable = { 'access-control-allow-origin': PAGE, 'access-control-expose-headers': exposedHeaders };
const preflight = { origin: PAGE, 'access-control-request-method': 'POST' };

describe('OPTIONS /graphql', () => {
  it('204 with its methods and what a page may send; no meter runs for it', async () => {
    const left = async () => (await service.get('/v1/models')).headers.get('ratelimit')?.match(/r=(\d+)/)?.[1];
    const before = Number(await left());
    for (const headers of [preflight, {}]) {
      const heard = await service.knock('OPTIONS', '/graphql', { headers });
      expect([heard.status, heard.headers.get('allow'), heard.text]).toEqual([204, 'GET, POST, OPTIONS', '']);
      expect(heard.headers.get('access-control-allow-methods')).toBe('origin' in headers ? 'GET, POST, OPTIONS' : null);
    }
    expect(before - Number(await left())).toBe(1);
  });

  it('204 before any of a body that never ends', async () => {
    const socket = await open(service.url);
    socket.socket.write(`OPTIONS /graphql HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1\r\n`);
    await expect.poll(() => socket.heard).toMatch(/^HTTP\/1\.1 204 /);
  });

  it('204 to a page of another origin, too, and nothing that lets it send', async () => {
    const heard = await service.knock('OPTIONS', '/graphql', {
      headers: { ...preflight, origin: 'https://a.example' },
    });
    expect([heard.status, crossOrigin(heard.headers)]).toEqual([204, {}]);
    expect(heard.headers.get('vary')).toContain('Origin');
  });
});

describe('an answer of /graphql to a page', () => {
  it.each<[string, number, unknown, Record<string, string>]>([
    ['a query', 200, { query: '{ models { id } }' }, {}],
    ['no query at all', 400, {}, {}],
    ['a query that asks too much', 400, { query: '{a'.repeat(900) + '}'.repeat(900) }, {}],
    ['what any site could send without leave', 400, '{"query":"{ models { id } }"}', { 'content-type': 'text/plain' }],
    ['an unpaid purchase', 402, { query: BUY() }, {}],
    ['a body too large', 413, ' '.repeat(limits.request_bytes_max + 1), {}],
    ['another media type', 415, 'query=x', { 'content-type': 'application/x-www-form-urlencoded' }],
  ])('may be read: %s, %s', async (_, status, body, headers) => {
    const heard = await service.post('/graphql', body, { origin: PAGE, ...headers });
    expect([heard.status, crossOrigin(heard.headers)]).toEqual([status, readable]);
    expect(heard.headers.get('cache-control')).toBe('no-store');
  });

  it('may not, where its origin is not listed', async () => {
    const heard = await service.post('/graphql', { query: '{ models { id } }' }, { origin: 'https://a.example' });
    expect([heard.status, crossOrigin(heard.headers), heard.headers.get('vary')]).toEqual([200, {}, 'Origin']);
  });
});

function BUY() {
  return 'mutation { createChatCompletion(input: { messages: [{ role: "user", content: "Hello" }] }) { model } }';
}

it('a request that names two hosts is refused to a page so that it can read it', async () => {
  const socket = await open(service.url);
  socket.socket.write(`GET /health HTTP/1.1\r\n${HOST}Host: other\r\nOrigin: ${PAGE}\r\n\r\n`);
  await socket.closed;
  expect(socket.heard).toMatch(/^HTTP\/1\.1 400 /);
  expect(socket.heard).toContain(`access-control-allow-origin: ${PAGE}\r\n`);
});

/** The encoded body as it is sent, because fetch would decode it. */
function coded(path: string, headers: Record<string, string>, body?: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const sent = { 'accept-encoding': 'gzip, br', 'content-type': 'application/json', ...headers };
    const asked = request(service.url + path, { method, headers: sent }, answer => {
      answer.resume().on('end', () => resolve(answer.headers['content-encoding']));
    });
    asked.on('error', reject);
    asked.end(body === undefined ? '' : JSON.stringify(body));
  });
}

describe('compression', () => {
  it('of a receipt changes no byte of what is signed', async () => {
    const { body } = await service.buy(await service.chain.newWallet());
    const { settlement_status: _, ...svc } = body.svc;
    const path = `/receipt/${svc.task_id}`;
    for (const coding of ['br', 'gzip']) {
      expect(await coded(path, { 'accept-encoding': coding })).toBe(coding);
      const unpacked = { 'accept-encoding': coding };
      expect((await service.get(path, unpacked)).body).toEqual(svc);
      const preimage = await service.get<JsonObject>(`${path}/preimage`, unpacked);
      expect(sha256Hex(preimage.text)).toBe(svc.payload_hash);
      expect(sha256Hex(canonicalJson(preimage.body))).toBe(svc.payload_hash);
    }
  });

  it('never of what is sold, of a book, or of an answer to whoever shows what he is known by', async () => {
    const { account, agent_id, session } = await service.newAgent();
    const payment = await service.payment(account, '/v1/chat/completions');
    expect(await coded('/v1/chat/completions', payment, ask('x'.repeat(5_000)))).toBeUndefined();
    expect(await coded(`/v1/agents/${agent_id}/book`, { 'x-svc-session': session })).toBeUndefined();
    const query = '{ __schema { types { name description } } }';
    expect(await coded('/graphql', {}, { query })).toBe('gzip');
    expect(await coded('/graphql', { 'x-svc-session': session }, { query })).toBeUndefined();
    expect(await coded('/graphql', { authorization: 'Bearer a-live-key' }, { query })).toBeUndefined();
    const bought = { query: BUY().replace('Hello', 'x'.repeat(2_000)) };
    expect(await coded('/graphql', {}, bought)).toBeUndefined();
  });

  it('of what describes the service, whose ETag it leaves as it is', async () => {
    expect(await coded('/openapi.json', {})).toBe('gzip');
    const first = await service.get<JsonObject>('/openapi.json', { 'accept-encoding': 'gzip' });
    const etag = first.headers.get('etag') ?? '';
    const again = await service.get('/openapi.json', { 'if-none-match': etag });
    expect([again.status, again.headers.get('etag'), again.text]).toEqual([304, etag, '']);
  });
});

describe('what may be kept', () => {
  it.each([
    '/.well-known/jwks.json',
    '/.well-known/did.json',
    '/.well-known/issuer-history.json',
    '/.well-known/issuer-history.json?version=1',
    '/.well-known/receipt-policy-history.json',
    '/.well-known/x402',
  ])('304 at %s to whoever has it, as often as he asks', async path => {
    const { status, headers } = await service.get(path);
    const etag = headers.get('etag') ?? '';
    expect([status, headers.get('cache-control')]).toEqual([200, expect.stringMatching(/^public, max-age=\d+$/)]);
    for (let round = 0; round < 3; round++)
      expect((await service.get<Chat | null>(path, { 'if-none-match': etag })).status).toBe(304);
  });
});
