import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { x402Client } from '@x402/core/client';
import { encodePaymentRequiredHeader } from '@x402/core/http';
import type { PaymentPayload, PaymentRequired } from '@x402/core/types';
import { afterEach, expect, it, vi } from 'vitest';
import { type Buyer, PaymentPending, payingFetch } from '../../rest-compat/client/paying-fetch.ts';
import { redeliveryText } from '../../schema/redeliver-header.ts';
import { atEnd } from '../harness/release.ts';

/* Our fetch with a server that is paid and malicious, or whose answers change as proxies and sessions come and go. */

const terms = { scheme: 'exact', network: 'eip155:8453', amount: '2000' };
const required = encodePaymentRequiredHeader({
  x402Version: 2,
  resource: { url: 'https://paid.example/' },
  accepts: [terms],
} as unknown as PaymentRequired);

type ScriptedResponse = { status: number; headers?: Record<string, string>; body?: object } | 'nothing' | 'half';

/** A server that asks for payment, and answers each paid request with the next of these. */
async function paid(...answers: ScriptedResponse[]) {
  const shown: IncomingHttpHeaders[] = [];
  const halves: ServerResponse[] = [];
  const server = createServer(({ headers, socket }, reply) => {
    if (!headers['payment-signature']) return reply.writeHead(402, { 'PAYMENT-REQUIRED': required }).end('{}');
    shown.push(headers);
    const said = answers.shift() ?? { status: 200 };
    if (said === 'nothing') return socket.destroy();
    if (said === 'half') return halves.push(reply) && reply.writeHead(200).write('The first ha');
    return reply.writeHead(said.status, said.headers).end(JSON.stringify(said.body ?? {}));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    shown,
    breakOff: () => halves.shift()?.destroy(),
  };
}

const nonceOf = (count: number) => `0x${String(count).padStart(64, '0')}`;

function buyer(more: Partial<Buyer> = {}) {
  let signed = 0;
  const texts: string[] = [];
  const createPaymentPayload = async () => {
    const authorization = { nonce: nonceOf(++signed), validBefore: String(Math.floor(Date.now() / 1_000) + 300) };
    return { x402Version: 2, accepted: terms, payload: { authorization } } as unknown as PaymentPayload;
  };
  const signText = async (text: string) => {
    texts.push(text);
    return '0x5167';
  };
  const pay = payingFetch({ payments: { createPaymentPayload }, signText, patience_ms_max: 2_500, ...more });
  const send = (url: string, headers: Record<string, string> = {}) => pay(url, { method: 'POST', headers, body: 'x' });
  return { send, texts, signed: () => signed };
}

const wants = (text: string): ScriptedResponse => ({
  status: 409,
  body: { code: 'payer_proof_required', payer_proof: { text, value: '7:<signature>' } },
});

it('signs the text of its own payment, and no other that it is given', async () => {
  const own = redeliveryText({
    base_url: 'https://svc.example',
    network: 'base',
    payment_id: nonceOf(1),
    at_seconds: 7,
  });
  const others = [
    'bank.example wants you to sign in with your Ethereum account',
    redeliveryText({ base_url: 'https://svc.example', network: 'base', payment_id: nonceOf(9), at_seconds: 7 }),
    `${own}\n`,
    `${own}|and more`,
  ];
  for (const text of others) {
    const [house, { send, texts }] = [await paid(wants(text)), buyer()];
    expect((await send(house.url)).status).toBe(409);
    expect([texts, house.shown.length]).toEqual([[], 1]);
  }
  const [house, { send, texts }] = [await paid(wants(own)), buyer()];
  expect((await send(house.url)).status).toBe(200);
  expect(texts).toEqual([own]);
  expect(house.shown[1]?.['x-svc-redeliver']).toBe('7:0x5167');
});

it('takes its payment to nobody to whom it is sent on', async () => {
  const other = await paid();
  const [house, { send }] = [await paid({ status: 307, headers: { location: other.url } }), buyer()];
  expect((await send(house.url)).status).toBe(307);
  expect([house.shown.length, other.shown.length]).toEqual([1, 0]);
});

it('keeps a payment whose outcome is open, though a session is refused meanwhile', async () => {
  const house = await paid('nothing', { status: 403, body: { code: 'forbidden' } });
  const { send, signed } = buyer({ patience_ms_max: 0 });
  await expect(send(house.url)).rejects.toThrow('Send the same payment again');
  expect((await send(house.url)).status).toBe(403);
  expect((await send(house.url)).status).toBe(200);
  expect([signed(), new Set(house.shown.map(shown => shown['payment-signature'])).size]).toEqual([1, 1]);
});

it.each(['Idempotency-Key', 'X-Router-Key'])(
  'keeps purchases apart that its caller tells apart by %s',
  async header => {
    const [house, { send, signed }] = [await paid('nothing'), buyer({ patience_ms_max: 0 })];
    await expect(send(house.url, { [header]: 'one' })).rejects.toThrow('Send the same payment again');
    expect((await send(house.url, { [header]: 'two' })).status).toBe(200);
    expect((await send(house.url, { [header]: 'one' })).status).toBe(200);
    const [first, second, again] = house.shown.map(shown => shown['payment-signature']);
    expect([signed(), again === first, second === first]).toEqual([2, true, false]);
  },
);

afterEach(() => {
  vi.useRealTimers();
});

/** Asks for payment, and answers a paid request with a body that never ends. */
const stalling = (status: number): typeof fetch => {
  const body = () => new ReadableStream({ start: stream => stream.enqueue(new TextEncoder().encode('{"code":')) });
  return async input =>
    (input as Request).headers.has('PAYMENT-SIGNATURE')
      ? new Response(body(), { status })
      : new Response('{}', { status: 402, headers: { 'PAYMENT-REQUIRED': required } });
};

it('waits no longer for the body of a refusal than for its head', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { send } = buyer({ fetch: stalling(503), patience_ms_max: 0 });
  const heard: unknown[] = [];
  send('https://paid.example/').catch(fault => heard.push(fault));
  await expect.poll(() => vi.advanceTimersByTimeAsync(60_000).then(() => heard)).toHaveLength(1);
  expect(heard).toMatchObject([{ name: 'PaymentPending', problem: null }]);
});

it('reads no refusal that is longer than a problem document', async () => {
  const pendingAnswer = (detail: string) => ({ status: 503, body: { code: 'settlement_pending', detail } });
  const house = await paid(pendingAnswer('x'.repeat(1_000)), pendingAnswer('x'.repeat(65_536)));
  const { send } = buyer({ patience_ms_max: 0 });
  await expect(send(house.url)).rejects.toMatchObject({ problem: { code: 'settlement_pending' } });
  await expect(send(house.url)).rejects.toMatchObject({ name: 'PaymentPending', problem: null });
});

it('prints no payment that can be spent: PaymentPending has it to be kept, and shows what it is for', async () => {
  const [house, { send }] = [await paid('nothing'), buyer({ patience_ms_max: 0 })];
  const fault: PaymentPending = await send(house.url).catch(thrown => thrown);
  expect(fault).toBeInstanceOf(PaymentPending);
  const [secret] = house.shown.map(shown => shown['payment-signature'] as string);
  const { request, header, valid_before } = fault.payment;
  expect(header).toEqual(['PAYMENT-SIGNATURE', secret]);
  const printed = [JSON.stringify(fault), inspect(fault, { depth: null }), JSON.stringify({ ...fault })];
  for (const text of printed) expect(text).not.toContain(secret);
  expect(JSON.parse(printed[0] as string)).toMatchObject({ name: 'PaymentPending', request, valid_before });
  expect(Object.keys(JSON.parse(JSON.stringify(fault.payment)))).toEqual(['request', 'header', 'valid_before']);
});

it('keeps both of two equal purchases that overlap, and asks for the elder first', async () => {
  const [house, { send, signed }] = [await paid('half', 'nothing'), buyer({ patience_ms_max: 0 })];
  const first = await send(house.url);
  await expect(send(house.url)).rejects.toThrow('Send the same payment again');
  const broken = expect(first.text()).rejects.toThrow();
  house.breakOff();
  await broken;
  expect([(await send(house.url)).status, (await send(house.url)).status]).toEqual([200, 200]);
  const [one, other, ...again] = house.shown.map(shown => shown['payment-signature']);
  expect([signed(), again]).toEqual([2, [one, other]]);
});

it('says of the newest version that is offered that nothing is registered for it', async () => {
  const body = JSON.stringify({ x402Version: 1, accepts: [], error: '' });
  const offering = async () => new Response(body, { status: 402, headers: { 'PAYMENT-REQUIRED': required } });
  const { send } = buyer({ payments: new x402Client(), fetch: offering });
  await expect(send('https://paid.example/')).rejects.toThrow('No client registered for x402 version: 2');
});

it('shows the same payment again of which it is not known yet whether it was charged, also where that header is out of sight', async () => {
  const unknown: ScriptedResponse = {
    status: 409,
    headers: { 'Retry-After': '0.01' },
    body: { code: 'job_already_paid', charged: null },
  };
  const said = { code: 'job_already_paid', charged: true };
  const { url, shown } = await paid(unknown, unknown, { status: 409, body: said });
  const { send, signed } = buyer();
  const answer = await send(url);
  expect([answer.status, await answer.json()]).toEqual([409, said]);
  expect(shown).toHaveLength(3);
  expect(new Set(shown.map(headers => headers['payment-signature'])).size).toBe(1);
  expect(signed()).toBe(1);
});

it.each([
  ['says nothing of the payment', {}],
  ['says that it was charged', { charged: true }],
])(
  'keeps a payment that was charged and whose answer was lost, though the request is refused next and that %s',
  async (_, fact) => {
    const house = await paid('nothing', { status: 400, body: { code: 'invalid_request', ...fact } });
    const { send, signed } = buyer({ patience_ms_max: 0 });
    await expect(send(house.url)).rejects.toThrow('Send the same payment again');
    expect((await send(house.url)).status).toBe(400);
    expect((await send(house.url)).status).toBe(200);
    expect([signed(), new Set(house.shown.map(shown => shown['payment-signature'])).size]).toEqual([1, 1]);
  },
);

it('signs another payment once a refusal of the request says that the first was not charged', async () => {
  const house = await paid('nothing', { status: 400, body: { code: 'invalid_request', charged: false } });
  const { send, signed } = buyer({ patience_ms_max: 0 });
  await expect(send(house.url)).rejects.toThrow('Send the same payment again');
  expect((await send(house.url)).status).toBe(400);
  expect((await send(house.url)).status).toBe(200);
  expect(signed()).toBe(2);
});

/** Asks for payment, and answers each paid request with the next of these, as a stream of events that ends cleanly. */
function streams(...bodies: string[]) {
  const shown: string[] = [];
  const by: typeof fetch = async input => {
    const payment = (input as Request).headers.get('PAYMENT-SIGNATURE');
    if (payment === null) return new Response('{}', { status: 402, headers: { 'PAYMENT-REQUIRED': required } });
    shown.push(payment);
    return new Response(bodies.shift(), { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
  };
  return { by, shown };
}

const chunk = 'data: {"choices":[{"delta":{"content":"data: [DONE]"}}]}\n\n';

it.each([
  ['before any event', ''],
  ['within an event', 'data: {"choices":[{"delta":{"con'],
  ['before [DONE]', chunk],
  ['before message_stop', 'event: message_delta\ndata: {"type":"message_delta"}\n\n'],
  ['before response.completed', 'event: response.output_text.delta\ndata: {"delta":"event: response.completed"}\n\n'],
])(
  'sends the same payment again after a stream that a proxy ended cleanly %s, until it is complete',
  async (_, cut) => {
    const { by, shown } = streams(cut, cut, `${chunk}data: [DONE]\n\n`, `${chunk}data: [DONE]\n\n`);
    const { send, signed } = buyer({ fetch: by });
    const texts: string[] = [];
    for (let tries = 0; tries < 4; tries++) texts.push(await (await send('https://paid.example/')).text());
    expect(texts.slice(0, 2)).toEqual([cut, cut]);
    const [first, ...again] = shown;
    expect([signed(), again.slice(0, 2), again[2] === first]).toEqual([2, [first, first], false]);
  },
);

it.each([
  ['a chat', `${chunk}data: [DONE]\n\n`],
  ['a message', 'event: message_stop\ndata: {"type":"message_stop"}\n\n'],
  ['a response longer than what is kept of it', `event: response.completed\ndata: "${'x'.repeat(5_000)}"\n\n`],
  ['a response that failed', 'event: response.failed\ndata: {"type":"response.failed"}\n\n'],
  ['a GraphQL operation', 'event: next\ndata: {}\n\nevent: complete\ndata: \n\n'],
  ['an A2A task', 'data: {"jsonrpc":"2.0","id":1,"result":{"final":true}}\n\n'],
])('buys again after the complete stream of %s', async (_, whole) => {
  const { by } = streams(whole, whole);
  const { send, signed } = buyer({ fetch: by });
  for (let count = 1; count <= 2; count++) {
    expect(await (await send('https://paid.example/')).text()).toBe(whole);
    expect(signed()).toBe(count);
  }
});
