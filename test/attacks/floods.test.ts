import { once } from 'node:events';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { limits } from '../../schema/limits.ts';
import { HOST, open, UPGRADE } from '../harness/attacks/raw.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const served = async () => (await service.get('/v1/models')).status === 200;

/** A socket that was opened and acknowledged, so that it may send operations. */
async function greeted(payload = {}): Promise<WebSocket> {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  onTestFinished(() => socket.terminate());
  socket.on('error', () => {});
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload }));
  await once(socket, 'message');
  return socket;
}

const codeOf = async (socket: WebSocket): Promise<number> => (await once(socket, 'close'))[0] as number;

describe('floods of headers', () => {
  it.each([
    ['10,000 headers', Array.from({ length: 10_000 }, (_, i) => `a${i}: b\r\n`).join('')],
    ['a header of 1 MiB', `a: ${'b'.repeat(1024 * 1024)}\r\n`],
    ['1 MiB of them, of sockets', `${UPGRADE.slice(0, -2)}${'a: b\r\n'.repeat(175_000)}`],
  ])('431 on %s', async (_, headers) => {
    const flood = await open(service.url);
    flood.socket.write(headers.startsWith('GET') ? headers : `GET /v1/models HTTP/1.1\r\n${HOST}${headers}\r\n`);
    await flood.closed;
    expect(flood.heard).toMatch(/^(HTTP\/1.1 431 |$)/);
    expect(await served()).toBe(true);
  });

  it('a path of 60 KB is read, and leads nowhere', async () => {
    expect((await service.get(`/${'a'.repeat(60_000)}`)).status).toBe(404);
  });
});

it('5,000 requests in one piece: no more are under way than a bound, and the connection is lost', async () => {
  const flood = await open(service.url);
  flood.socket.write(`GET /v1/models HTTP/1.1\r\n${HOST}\r\n`.repeat(5_000));
  await flood.closed;
  expect(flood.heard.split('HTTP/1.1 200').length - 1).toBeLessThan(5_000);
  expect(await served()).toBe(true);
  // Requests of a closed connection must no longer count as in progress. The one that is left is the request for the metrics.
  const underway = async () => (await (await fetch(`${service.url}/metrics`)).text()).match(/underway (\d+)/)?.[1];
  await expect.poll(underway).toBe('1');
});

it('a few in one piece are answered in their order', async () => {
  const few = await open(service.url);
  few.socket.write(`GET /v1/models HTTP/1.1\r\n${HOST}\r\n`.repeat(20));
  await expect.poll(() => few.heard.split('HTTP/1.1 200').length - 1).toBe(20);
});

describe('floods of frames', () => {
  it('a burst of pings, which all want an answer, is cut off', async () => {
    const socket = await greeted();
    const code = codeOf(socket);
    for (let n = 0; n < limits.socket_frames_burst_max * 2; n++) socket.ping();
    // If its answers queue up, the ws library closes the connection first, which gives 1006.
    expect([4429, 1006]).toContain(await code);
    expect(await served()).toBe(true);
  });

  it.each<[string, (socket: WebSocket) => void]>([
    ['pongs', socket => socket.pong()],
    ['pings of the protocol', socket => socket.send('{"type":"ping"}')],
  ])('4429 after too many %s', async (_, send) => {
    const socket = await greeted();
    const code = codeOf(socket);
    for (let n = 0; n < limits.socket_frames_burst_max * 2; n++) send(socket);
    // 1006 if this client is too slow to read the close frame before the connection is gone.
    expect([4429, 1006]).toContain(await code);
    expect(await served()).toBe(true);
  });

  it('whoever reads none of it is hung up on', async () => {
    const deaf = await open(service.url);
    deaf.socket.write(UPGRADE);
    await expect.poll(() => deaf.heard).toContain('HTTP/1.1 101');
    deaf.socket.pause();
    const ping = Buffer.concat([Buffer.from([0x89, 0x80 | 100, 0, 0, 0, 0]), Buffer.alloc(100)]);
    deaf.socket.write(Buffer.concat(Array.from({ length: 20_000 }, () => ping)));
    deaf.socket.resume();
    await deaf.closed;
    expect(await served()).toBe(true);
  });

  it.each<[string, number, (socket: WebSocket) => void]>([
    ['a message beyond the limit', 1009, socket => socket.send('x'.repeat(limits.socket_message_bytes_max + 1))],
    [
      'a message beyond it in pieces',
      1009,
      socket => {
        for (let n = 0; n < 66; n++) socket.send('x'.repeat(1024), { fin: false });
      },
    ],
    [
      'a message in a thousand empty pieces',
      1008,
      socket => {
        for (let n = 0; n < 1_000; n++) socket.send('', { fin: false });
      },
    ],
    ['no JSON', 4400, socket => socket.send('{{{')],
    ['bytes', 4400, socket => socket.send(Buffer.alloc(1_000, 0xff))],
    ['a second greeting', 4429, socket => socket.send('{"type":"connection_init"}')],
  ])('%s: %i', async (_, expected, send) => {
    const socket = await greeted();
    const code = codeOf(socket);
    send(socket);
    expect(await code).toBe(expected);
    expect(await served()).toBe(true);
  });
});

it('1,000 subscriptions over one socket: as many as are allowed, the others are told', async () => {
  const { agent_id, session } = await service.newAgent();
  const socket = await greeted({ session });
  const refused = new Set<string>();
  socket.on('message', data => {
    const { id, type, payload } = JSON.parse(String(data));
    if (type === 'error' && payload[0].extensions.code === 'rate_limited') refused.add(id);
  });
  const query = `subscription { bookRows(agentId: ${agent_id}, after: 1000) { seq } }`;
  for (let id = 0; id < 1_000; id++)
    socket.send(JSON.stringify({ id: String(id), type: 'subscribe', payload: { query } }));
  await expect.poll(() => refused.size).toBe(1_000 - limits.socket_subscriptions_max);
  expect([socket.readyState, await served()]).toEqual([WebSocket.OPEN, true]);
});
