import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RestLayer } from '../../rest-compat/door.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { limits } from '../../schema/limits.ts';
import { openRestFixture, payment, type RestFixture, succeed } from '../harness/rest-compat/fake-port.ts';

let house: RestFixture;
beforeAll(async () => {
  house = await openRestFixture();
});
afterAll(() => house.close());
beforeEach(() => succeed(house.port, { answer: { text: LONG, preimage: PREIMAGE, document: { LONG } } }));

const LONG = 'receipt '.repeat(1_000);
const PREIMAGE = JSON.stringify({ b: LONG, a: 'é' });

interface Raw {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
}

/** Not fetch, which would undo it. */
function ask(path: string, headers: object, method = 'GET', body = '', url = house.url): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const asked = request(url + path, { method, headers: { ...headers } }, answer => {
      const chunks: Buffer[] = [];
      answer.on('data', chunk => chunks.push(chunk));
      answer.on('end', () =>
        resolve({ status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(chunks) }),
      );
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

const decoded = { br: brotliDecompressSync, gzip: gunzipSync } as const;
const both = { 'accept-encoding': 'gzip, deflate, br, zstd' };

describe('answers that are the same for everybody', () => {
  it.each(['br', 'gzip'] as const)('are compressed as %s where that is taken, byte for byte', async coding => {
    const { headers, bytes } = await ask('/receipt/task_1/preimage', { 'accept-encoding': coding });
    expect([headers['content-encoding'], headers.vary]).toEqual([coding, 'accept-encoding']);
    expect(bytes.length).toBeLessThan(LONG.length / 10);
    expect(decoded[coding](bytes).toString()).toBe(PREIMAGE);
  });

  it('as gzip, the cheaper one, where both are taken; as they are, where none is or none is named', async () => {
    expect((await ask('/openapi.json', both)).headers['content-encoding']).toBe('gzip');
    for (const taken of [null, 'identity', 'br;q=0, gzip;q=0']) {
      const heard = await ask('/receipt/task_1/preimage', taken === null ? {} : { 'accept-encoding': taken });
      expect([heard.headers['content-encoding'], heard.bytes.toString()]).toEqual([undefined, PREIMAGE]);
    }
  });

  it('only from 1 kB on', async () => {
    for (const [bytes, coding] of [
      [limits.compressed_answer_bytes_min - 1, undefined],
      [limits.compressed_answer_bytes_min, 'gzip'],
    ] as const) {
      succeed(house.port, { answer: { preimage: 'x'.repeat(bytes) } });
      expect((await ask('/receipt/task_1/preimage', both)).headers['content-encoding'], String(bytes)).toBe(coding);
    }
  });

  it.each(['/openapi.json', '/.well-known/x402'])(
    '%s is made once, and goes out in each coding as it was made',
    async path => {
      const doors = everyDoor.map(door => ({ ...door }));
      const described = doors.find(door => door.path === path);
      if (described?.kind !== 'page') throw new Error(`${path} is no page`);
      let pages = 0;
      const { page } = described;
      const counting = {
        ...described,
        page(face: RestLayer) {
          pages++;
          return page(face);
        },
      };
      const own = await openRestFixture(doors.map(door => (door === described ? counting : door)));
      try {
        const first = await ask(path, both, 'GET', '', own.url);
        for (const headers of [both, { 'accept-encoding': 'gzip' }, { 'accept-encoding': 'br' }, {}] as const) {
          const again = await ask(path, headers, 'GET', '', own.url);
          const coding = again.headers['content-encoding'] as keyof typeof decoded | undefined;
          expect(coding).toBe(headers === both ? 'gzip' : headers['accept-encoding']);
          const plain = coding ? decoded[coding](again.bytes) : again.bytes;
          expect(plain.equals(decoded.gzip(first.bytes))).toBe(true);
          expect(again.headers.vary).toBe('accept-encoding');
          expect(Number(again.headers['content-length'])).toBe(again.bytes.length);
        }
        expect(pages).toBe(1);
      } finally {
        await own.close();
      }
    },
  );

  it('keep their ETag, whichever way they come, and 304 comes without any coding', async () => {
    const [plain, packed] = [await ask('/openapi.json', {}), await ask('/openapi.json', both)];
    expect(packed.headers.etag).toBe(plain.headers.etag);
    const again = await ask('/openapi.json', { ...both, 'if-none-match': String(packed.headers.etag) });
    expect([again.status, again.bytes.length, again.headers['content-encoding']]).toEqual([304, 0, undefined]);
    expect(again.headers.vary).toBe(packed.headers.vary);
  });
});

describe('answers that hold what is somebody’s own', () => {
  it.each<[string, string, string, Record<string, string>]>([
    ['what is sold', 'POST', '/v1/responses', { 'payment-signature': payment }],
    ['a book', 'GET', '/v1/agents/7/book', { 'x-svc-session': 'good' }],
    ['a policy', 'GET', '/v1/agents/7/book/policy', { 'x-svc-session': 'good' }],
    ['a new session', 'POST', '/v1/agents/7/book/rotate', { 'x-svc-session': 'good' }],
  ])('are never compressed: %s', async (_, method, path, headers) => {
    const body = path.startsWith('/v1/responses') ? '{"input":"Hello"}' : '{}';
    const sent = { ...both, ...headers, 'content-type': 'application/json' };
    const heard = await ask(path, sent, method, method === 'POST' ? body : '');
    expect([heard.status, heard.headers['content-encoding']]).toEqual([200, undefined]);
    expect(heard.bytes.toString()).toContain(LONG);
  });

  it('nor are streams', async () => {
    house.port.events = [{ data: { answer: { choices: [], svc: { LONG } } }, errors: [] }];
    const body = '{"stream":true,"messages":[{"role":"user","content":"Hello"}]}';
    const headers = { ...both, 'payment-signature': payment, 'content-type': 'application/json' };
    const heard = await ask('/v1/chat/completions', headers, 'POST', body);
    expect([heard.headers['content-type'], heard.headers['content-encoding']]).toEqual([
      'text/event-stream',
      undefined,
    ]);
  });
});

it('415 to a compressed body: small ones that become large ones pass no bound', async () => {
  const headers = { 'x-svc-session': 'good', 'content-type': 'application/json', 'content-encoding': 'gzip' };
  expect((await ask('/v1/agents/7/book/policy', headers, 'POST', '{}')).status).toBe(415);
});

it('an answer to a caller who is still sending comes at once, as it is', async () => {
  const asked = request(`${house.url}/openapi.json`, { headers: { ...both, 'transfer-encoding': 'chunked' } });
  asked.on('error', () => {});
  const answered = new Promise<Record<string, unknown>>(resolve =>
    asked.on('response', answer => answer.once('data', () => resolve(answer.headers))),
  );
  asked.write('a');
  const heard = await Promise.race([answered, sleep(limits.linger_ms_max * 20, null)]);
  expect(heard?.['content-encoding']).toBeUndefined();
  expect(Number(heard?.['content-length'])).toBeGreaterThan(limits.compressed_answer_bytes_min);
  asked.destroy();
});
