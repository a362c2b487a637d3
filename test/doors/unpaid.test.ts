import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { PaymentRequired } from '../../rest-compat/answer-shapes.ts';
import { limits } from '../../schema/limits.ts';
import { HOST, open } from '../harness/attacks/raw.ts';
import { ask, CHAT, type ChallengeBody, REGISTER, type Service, sharedService } from '../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const challenged = { status: 402, body: { x402Version: 1, accepts: [{ network: 'base', maxAmountRequired: '2000' }] } };

it('a thousand calls at once from one address to free doors are all answered, by the settings of development', async () => {
  // Raw sockets, because an HTTP client in this process would take the CPU time that the service needs to read the headers.
  const asked = Array.from({ length: 1_000 }, async () => {
    const call = await open(service.url);
    call.socket.write(`GET /v1/models HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`);
    await call.closed;
    return call.heard.slice(0, 'HTTP/1.1 200'.length);
  });
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['HTTP/1.1 200']));
});

it('402 at every URL of /.well-known/x402list.txt, to a stranger who sends nothing', async () => {
  const { text } = await service.get('/.well-known/x402list.txt');
  const paths = text
    .trimEnd()
    .split('\n')
    .map(url => new URL(url).pathname);
  expect(paths).toContain(CHAT);
  for (const path of paths) expect([path, (await service.knock('POST', path)).status]).toEqual([path, 402]);
});

/** Sends a raw HTTP request that never ends. Resolves once the whole answer has arrived. */
function begun(head: readonly string[], piece = ''): Promise<{ status: number; body: unknown }> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.write([...head, 'host: x', '', piece].join('\r\n'));
  const pour = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  if (piece === CHUNK) pour();
  return new Promise((resolve, reject) => {
    let heard = '';
    if (piece === CHUNK) socket.on('drain', pour);
    socket.on('error', reject);
    socket.on('data', chunk => {
      heard += chunk;
      // Skips an interim response, which may come before the final one (RFC 9110 section 15.2).
      const [top = '', body = ''] = heard.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '').split('\r\n\r\n');
      const [, length] = top.match(/^content-length: (\d+)$/im) ?? [];
      if (length === undefined || Buffer.byteLength(body) < Number(length)) return;
      socket.destroy();
      resolve({ status: Number(top.split(' ')[1]), body: JSON.parse(body) });
    });
  });
}

const CHUNK = `10000\r\n${'a'.repeat(0x10000)}\r\n`;
const BIG = 50 * 1024 * 1024;

const post = (path: string) => [`POST ${path} HTTP/1.1`, 'content-type: application/json'];

/** Only chats, because a registration with `task_id` is free and its endpoint therefore reads a body that could contain it. */
it.each<[string, readonly string[], string]>([
  ['a body that was announced and never comes', ['content-length: 20'], ''],
  ['a body of which half has come', ['content-length: 20'], '{"messages'],
  ['chunks that never begin', ['transfer-encoding: chunked'], ''],
])(`${CHAT} unpaid 402 before the body to %s`, async (_, headers, piece) => {
  expect(await begun([...post(CHAT), ...headers], piece)).toMatchObject(challenged);
});

describe.each([CHAT, REGISTER])('%s unpaid', path => {
  it.each<[string, readonly string[], string]>([
    ['50 MB announced, and none of them sent', [`content-length: ${BIG}`], ''],
    [
      '50 MB announced, by a client that waits to be told to go on',
      [`content-length: ${BIG}`, 'expect: 100-continue'],
      '',
    ],
    ['chunks that never end', ['transfer-encoding: chunked'], CHUNK],
  ])('402 before the body to %s', async (_, headers, piece) => {
    const answer = await begun([...post(path), ...headers], piece);
    expect(answer).toMatchObject(challenged);
    expect(PaymentRequired.parse(answer.body)).toEqual(answer.body);
  });

  it.each<[string, unknown, Record<string, string>]>([
    ['50 MB that are sent all the same', ' '.repeat(BIG), {}],
    ['a body that is no JSON', '{"messages": [', {}],
    ['a body that is no UTF-8', new Uint8Array([0x7b, 0xff, 0xfe]), {}],
    ['a JSON list', [ask()], {}],
    ['a good request', ask(), {}],
    ['a form', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a content type that is none', '{}', { 'content-type': 'rubbish' }],
    ['a compressed body', '{}', { 'content-encoding': 'gzip' }],
    ['an empty payment header', '{}', { 'PAYMENT-SIGNATURE': '' }],
    ['JSON nested 10,000 deep', '['.repeat(10_000), {}],
  ])('402 to %s', async (_, body, headers) => {
    expect(await service.post<ChallengeBody>(path, body, headers)).toMatchObject(challenged);
  });

  it.each(['GET', 'PUT', 'PATCH', 'DELETE'])('402 to %s, saying which method it would take', async method => {
    const heard = await service.knock<ChallengeBody>(method, path);
    expect(heard).toMatchObject(challenged);
    expect(heard.headers.get('allow')).toBe('POST');
  });

  it('204 to OPTIONS, which asks for the methods and for nothing to be done', async () => {
    const heard = await service.knock('OPTIONS', path);
    expect(heard).toMatchObject({ status: 204, body: null });
    expect(heard.headers.get('allow')).toBe('POST, OPTIONS');
  });

  it.each(['GET', 'PUT'])('405 to a paid %s, and the payment stays usable', async method => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    expect(await service.knock(method, path, { headers: payment })).toMatchObject({ status: 405 });
    expect(await service.claimsOf(payer)).toEqual([]);
    expect((await service.post(CHAT, ask(), payment)).status).toBe(200);
  });
});

describe('what is no request at all', () => {
  it('431 headers_too_large, as a problem', async () => {
    const headers = { 'PAYMENT-SIGNATURE': 'A'.repeat(limits.request_headers_bytes_max) };
    const heard = await service.post<{ error: { code: string } }>(CHAT, ask(), headers);
    expect(heard).toMatchObject({ status: 431, body: { error: { code: 'headers_too_large' } } });
  });

  it.each([
    ['a request line that is none', ['what is this']],
    ['a length that is none', [`POST ${CHAT} HTTP/1.1`, 'content-length: many']],
    ['two lengths', [`POST ${CHAT} HTTP/1.1`, 'content-length: 2', 'content-length: 3']],
    ['a length and chunks', [`POST ${CHAT} HTTP/1.1`, 'content-length: 2', 'transfer-encoding: chunked']],
  ])('400 invalid_request on %s, as a problem', async (_, head) => {
    expect(await begun(head)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });
});
