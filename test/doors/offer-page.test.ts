import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { CHAT, type Service, sharedService } from '../harness/doors/open-service.ts';
import { ownFolder } from '../harness/scratch.ts';

/* The page of a paid URL in a browser. Every other client must get the same bytes as without that feature. */

const CHROME =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7';
const FIREFOX = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
/**
 * Accept headers of programs: the first is of curl, fetch and Python's requests, the third of axios, the last of Java's HttpURLConnection.
 */
const PROGRAMS = [
  '*/*',
  'application/json',
  'application/json, text/plain, */*',
  'text/html;q=0.9, application/json',
  'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2',
  undefined,
];

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

interface OpenedPage {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly head_bytes: number;
}

/** Sends a request with only these headers, because `fetch` always adds an Accept header. */
function open(
  method: string,
  path: string,
  headers: Readonly<Record<string, string | undefined>>,
): Promise<OpenedPage> {
  const given = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return new Promise((resolve, reject) => {
    const asked = request(service.url + path, { method, headers: Object.fromEntries(given) }, async answer => {
      const head_bytes = answer.rawHeaders.reduce((sum, it) => sum + it.length + 2, 0);
      resolve({ status: answer.statusCode, headers: answer.headers, body: await text(answer), head_bytes });
    });
    asked.on('error', reject).end();
  });
}

const pathOf = (path: string) => path.replaceAll(/\{\w+\}/g, '1');
const isFreeToRead = (path: string) => everyDoor.some(it => it.path === path && it.methods.includes('GET'));
const doors = everyDoor.filter(({ price, path }) => price !== null && !isFreeToRead(path));
const rows = doors.map(door => [door.path, door] as const);
const isOpenToAll = ([, { possession }]: (typeof rows)[number]) => possession === 'none';

describe.each(rows.filter(isOpenToAll))('GET %s', (path, { methods: [method] }) => {
  it('402 to a browser, with the offer in its header and a page that says what it costs and how it is paid', async () => {
    const [page, firefox] = [
      await open('GET', pathOf(path), { accept: CHROME }),
      await open('GET', pathOf(path), { accept: FIREFOX }),
    ];
    expect([page.status, page.headers['content-type'], page.headers.vary]).toEqual([
      402,
      'text/html; charset=utf-8',
      expect.stringMatching(/\baccept\b/i),
    ]);
    expect(firefox.body).toBe(page.body);
    expect(page.headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'none'; style-src 'sha256-[^']+'; .*; frame-ancestors 'none'$/,
    );
    expect(page.body).toContain(`<code>${method} ${service.url}${path}</code>`);
    expect(page.body).toContain('0.002 USDC');
    expect(page.body).not.toMatch(/<script|src=|@import|url\(/);
    const links = [...page.body.matchAll(/href="([^"]+)"/g)].map(([, url]) => url);
    expect(links.filter(url => url !== 'data:,' && !url?.startsWith(`${service.url}/`))).toEqual([]);
    expect(page.head_bytes).toBeLessThan(3_584);
    const offer = page.headers['payment-required'];
    expect(JSON.parse(Buffer.from(String(offer), 'base64').toString())).toMatchObject({
      x402Version: 2,
      resource: { url: service.url + pathOf(path) },
      accepts: [{ amount: '2000', network: 'eip155:8453' }],
    });
    // This service settles only on Base.
    expect(page.body).toContain('<dt>Networks</dt><dd>Base</dd>');
  });
});

describe.each(rows.filter(row => !isOpenToAll(row)))('GET %s, which requires a session', path => {
  it('the same 401 to a browser as to every other client: an empty body, no page and no offer', async () => {
    const [page, json] = [
      await open('GET', pathOf(path), { accept: CHROME }),
      await open('GET', pathOf(path), { accept: '*/*' }),
    ];
    expect([page.status, page.body]).toEqual([401, '']);
    expect(comparable(page)).toEqual(comparable(json));
    for (const name of ['payment-required', 'content-type']) expect(page.headers).not.toHaveProperty(name);
  });

  it('the same 403 to a browser with a wrong session', async () => {
    const page = await open('GET', pathOf(path), { accept: CHROME, 'x-svc-session': 'svcs_wrong' });
    expect([page.status, page.body]).toEqual([403, '']);
  });
});

/** The response without headers that differ each time. */
function comparable({ status, headers, body }: OpenedPage) {
  const { date: _date, 'x-request-id': _id, 'server-timing': _time, ...rest } = headers;
  return { status, headers: rest, body };
}

describe.each(rows)('%s', (path, { possession }) => {
  it('the same bytes to every client that is no browser', async () => {
    const openAs = async (accept: string | undefined) => comparable(await open('GET', pathOf(path), { accept }));
    const [first, ...others] = await Promise.all(PROGRAMS.map(openAs));
    for (const other of others) expect(other).toEqual(first);
    expect(first?.headers['content-type'] ?? '').not.toContain('html');
    expect(first?.headers.vary ?? '').not.toMatch(/accept/i);
    const unpaid = await open('POST', pathOf(path), { accept: '*/*' });
    expect(first?.status).toBe(possession === 'none' ? 402 : 401);
    // A response to POST /v1/messages additionally has the members of that API's errors.
    if (possession === 'none') expect(JSON.parse(unpaid.body)).toMatchObject(JSON.parse(first?.body ?? ''));
  });

  // Responses to programs have no `Vary: Accept`, so no cache may store any of them.
  it.each(['GET', 'HEAD', 'POST'])('no response to %s may be stored', async method => {
    for (const accept of [CHROME, '*/*', undefined])
      for (const headers of [{}, { 'x-api-key': 'unknown' }, { 'payment-signature': 'unreadable' }])
        expect((await open(method, pathOf(path), { accept, ...headers })).headers['cache-control']).toBe('no-store');
  });
});

it(`the browser's PAYMENT-REQUIRED at ${CHAT} is that of everybody`, async () => {
  const [page, json] = [await open('GET', CHAT, { accept: CHROME }), await open('POST', CHAT, {})];
  expect(page.headers['payment-required']).toBe(json.headers['payment-required']);
  expect(page.headers.allow).toBe('POST');
});

it(`HEAD ${CHAT} 402 with the headers of the page; POST answers a browser in JSON`, async () => {
  const head = await open('HEAD', CHAT, { accept: CHROME });
  expect([head.status, head.headers['content-type'], head.body]).toEqual([402, 'text/html; charset=utf-8', '']);
  const post = await open('POST', CHAT, { accept: CHROME });
  expect([post.status, post.headers['content-type']]).toEqual([402, 'application/json; charset=utf-8']);
});

it(`GET ${CHAT} with a payment 405, because a program sends it`, async () => {
  const payment = await service.payment(await service.chain.newWallet(), CHAT);
  expect((await open('GET', CHAT, { ...payment, accept: CHROME })).status).toBe(405);
});

it.each([
  { 'x-api-key': 'unknown' },
  { authorization: 'Bearer unknown' },
  { authorization: 'Basic dTpw' },
  { 'x-svc-session': 'svcs_wrong' },
  { 'x-svc-proof': 'sha256=00' },
  { 'x-svc-intent': 'one' },
  { 'x-router-key': 'key' },
  { 'idempotency-key': 'one' },
])(`GET ${CHAT} with %o 402 in JSON whatever it accepts, because a program sends it`, async headers => {
  const answer = await open('GET', CHAT, { ...headers, accept: CHROME });
  expect([answer.status, answer.headers['content-type']]).toEqual([402, 'application/json; charset=utf-8']);
  expect(JSON.parse(answer.body)).toMatchObject({ x402Version: 1, error: expect.any(String) });
});

it('nothing that a caller writes into the URL comes back on the page', async () => {
  const page = await open('GET', `${CHAT}?q=%3Ci%3E&%27%22%3Cb%3E`, { accept: CHROME });
  expect(page.status).toBe(402);
  expect(page.body).not.toMatch(/<b>|<i>|%3C[bi]|&lt;[bi]/);
});

it(`the program on the page of ${CHAT} buys a chat`, async () => {
  const page = await open('GET', CHAT, { accept: CHROME });
  const [, [, escaped = ''] = []] = [...page.body.matchAll(/<pre>([\s\S]*?)<\/pre>/g)];
  const entities: Readonly<Record<string, string>> = {
    '&#39;': "'",
    '&quot;': '"',
    '&gt;': '>',
    '&lt;': '<',
    '&amp;': '&',
  };
  const program = escaped.replaceAll(/&#?\w+;/g, it => entities[it] ?? it);
  const installed = program.replaceAll(
    /'(@x402[^']+|viem[^']+)'/g,
    (_, name: string) => `'${import.meta.resolve(name)}'`,
  );
  const payer = await service.chain.newWallet();
  const file = join(await ownFolder(), 'pay.mjs');
  await writeFile(file, installed);
  const env = { PATH: process.env.PATH, PRIVATE_KEY: payer.private_key };
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env });
  expect(stdout).toMatch(/^200 /);
  expect(stdout).toContain('issuer_signature');
  expect(await service.transfersFrom(payer)).toHaveLength(1);
});
