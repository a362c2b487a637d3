import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { schemasOf } from '../../rest-compat/door-schemas.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { openRestFixture, payment, type RestFixture, succeed } from '../harness/rest-compat/fake-port.ts';

let house: RestFixture;
beforeAll(async () => {
  house = await openRestFixture();
});
afterAll(() => house.close());
beforeEach(() => {
  house.port.calls.length = 0;
});

const paidDoors = ['/v1/chat/completions', '/v1/agents/register'];

/** Sends raw bytes and hands back what came until `until` is in it, with the socket left open. */
function speak(head: string, until = '"accepts"') {
  const socket = connect(house.socket_port, '127.0.0.1');
  socket.write(head);
  let heard = '';
  const answered = new Promise<string>((resolve, reject) => {
    socket.on('data', chunk => {
      heard += chunk;
      if (heard.includes(until)) resolve(heard);
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(heard));
  });
  return { socket, answered, closed: new Promise<void>(resolve => socket.on('close', () => resolve())) };
}

it('the offer for embeddings names the type of a member that has one, and none of a member that has several', () => {
  const door = everyDoor.find(({ name }) => name === 'create_embeddings');
  const { input } = (door ? schemasOf(door).in_short : {}) as { input: { bodyFields: JsonObject } };
  expect(input.bodyFields).toMatchObject({ dimensions: { type: 'integer' }, model: { type: 'string' } });
  expect(input.bodyFields.input).toMatchObject({ required: true });
  expect(input.bodyFields.input).not.toHaveProperty('type');
});

describe.each(paidDoors)('%s unpaid: 402', path => {
  const expectChallenge = async (response: Response) => {
    expect(response.status).toBe(402);
    const v2 = JSON.parse(Buffer.from(response.headers.get('payment-required') ?? '', 'base64').toString());
    expect(v2).toMatchObject({ x402Version: 2, resource: { url: `https://svc.test${path}` } });
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toMatchObject({
      x402Version: 1,
      accepts: expect.arrayContaining([expect.objectContaining({ scheme: 'exact', network: 'base' })]),
    });
    expect(house.port.calls).toEqual([]);
  };

  it('to GET', async () => expectChallenge(await house.get(path)));
  it('to an empty POST', async () => expectChallenge(await fetch(house.url + path, { method: 'POST' })));
  it('to an empty object', async () => expectChallenge(await house.post(path, {})));
  it('to a body that is no JSON', async () => expectChallenge(await house.post(path, '{"messages": [')));
  it('to a content type that is none', async () =>
    expectChallenge(await house.post(path, 'a=b', { 'content-type': 'rubbish' })));
  it('to a form', async () =>
    expectChallenge(await house.post(path, 'a=b', { 'content-type': 'application/x-www-form-urlencoded' })));
  it('to a key that nobody knows', async () =>
    expectChallenge(await house.post(path, {}, { authorization: 'Bearer what' })));
  it('to HEAD, without the body', async () => {
    const response = await fetch(house.url + path, { method: 'HEAD' });
    expect(response.status).toBe(402);
    expect(response.headers.get('payment-required')).not.toBeNull();
  });

  it('to 50 MB announced, before a byte of them is sent; then the connection is closed', async () => {
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 52428800\r\n\r\n`;
    const { answered, closed } = speak(head);
    const heard = await answered;
    expect(heard).toMatch(/^HTTP\/1.1 402 /);
    expect(heard).toMatch(/connection: close/i);
    await closed;
  });

  it('to a client that sends 50 MB all the same', async () => {
    await expectChallenge(await house.post(path, `{"x":"${'a'.repeat(50 * 1024 * 1024)}"}`));
  });

  it('to a chunked body that never ends', async () => {
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`;
    const { socket, answered, closed } = speak(head);
    const chunk = `10000\r\n${'a'.repeat(0x10000)}\r\n`;
    const feed = () => {
      while (!socket.destroyed && socket.write(chunk));
      if (!socket.destroyed) socket.once('drain', feed);
    };
    socket.on('error', () => socket.destroy());
    feed();
    expect(await answered).toMatch(/^HTTP\/1.1 402 /);
    await closed;
  });
});

it('an unpaid chat offers base and solana, a registration base alone', async () => {
  const networks = async (path: string) => {
    const { accepts } = (await (await house.get(path)).json()) as { accepts: { network: string }[] };
    return accepts.map(({ network }) => network);
  };
  expect(await networks('/v1/chat/completions')).toEqual(['base', 'solana']);
  expect(await networks('/v1/agents/register')).toEqual(['base']);
});

it('a small refused body leaves the connection usable: two calls on one socket', async () => {
  const call = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`;
  const { socket, answered } = speak(call);
  await answered;
  const second = new Promise<string>(resolve => socket.once('data', chunk => resolve(String(chunk))));
  socket.write(call);
  expect(await second).toMatch(/^HTTP\/1.1 402 /);
  socket.destroy();
});

it('a paid GET on a paid door is a 405 that allows POST', async () => {
  const response = await house.get('/v1/chat/completions', { 'payment-signature': payment });
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('POST');
});

describe('a key', () => {
  const bodies = {
    '/v1/agents/register': { agentWallet: '0x1' },
    '/v1/chat/completions': { messages: [{ role: 'user', content: 'hi' }] },
  };
  const knock = async (path: keyof typeof bodies, key: string) =>
    (await house.post(path, bodies[path], { 'x-api-key': key })).status;

  it.each(['live', 'demo'])('of kind %s opens a door that sells work', async key => {
    succeed(house.port, { answer: {} });
    expect(await knock('/v1/chat/completions', key)).toBe(200);
  });

  it.each<[string, keyof typeof bodies, number]>([
    ['waiver', '/v1/chat/completions', 402],
    ['waiver', '/v1/agents/register', 402],
    ['live', '/v1/agents/register', 402],
    // Paying would not help: with it nothing is written.
    ['demo', '/v1/agents/register', 403],
  ])('of kind %s opens no door that does not name it: %s %i', async (key, path, status) => {
    expect(await knock(path, key)).toBe(status);
  });
});

it('registration with a task_id owes nothing; with null it does', async () => {
  succeed(house.port, { answer: { agent_id: 1 } });
  const body = { agentWallet: '0x1', task_id: 'task_1' };
  expect((await house.post('/v1/agents/register', body)).status).toBe(200);
  expect((await house.post('/v1/agents/register', { ...body, task_id: null })).status).toBe(402);
});

it('what is drained of a refused body is less than what may be sent', () => {
  expect(limits.unread_body_drained_bytes_max).toBeLessThan(limits.request_bytes_max);
});
