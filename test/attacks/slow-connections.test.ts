import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { HOST, open, UPGRADE } from '../harness/attacks/raw.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import type { RunningGateway } from '../harness/gateway.ts';

let service: Service;
beforeAll(async () => {
  service = await openService({}, { entry: 'test/harness/attacks/gateway-in-short-time.ts' });
});

/**
 * More than twice the silence that this service allows (`connection_silent_ms_max`). A write counts as activity, and an answer that is
 * being sent when the time ends extends it once. A client that wrote sooner would restart the time.
 */
const SILENT_MS = 12_000;

/** Whether a request on a new connection is answered, by default from another address than the attacker's. */
async function served(from?: string): Promise<boolean> {
  const other = await open(service.url, from);
  other.socket.write(`GET /v1/models HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`);
  await other.closed;
  return other.heard.startsWith('HTTP/1.1 200');
}

describe('a connection that takes its time is closed, and others are served meanwhile', () => {
  it.each([
    ['GET /health', `GET /health HTTP/1.1\r\n${HOST}X-A: ${'a'.repeat(1_000)}`],
    ['POST /graphql', `POST /graphql HTTP/1.1\r\n${HOST}X-A: ${'a'.repeat(1_000)}`],
    ['a socket', UPGRADE.replace('\r\n\r\n', `\r\nX-A: ${'a'.repeat(1_000)}`)],
  ])('headers byte by byte: %s, 408', async (_, text) => {
    const slow = (await open(service.url)).dribble(text);
    await expect.poll(() => served()).toBe(true);
    expect(await slow).toMatch(/^HTTP\/1.1 408 /);
  });

  it.each([
    ['with its length', 'Content-Length: 1000\r\n\r\n', 'a'.repeat(1_000)],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n', '1\r\na\r\n'.repeat(300)],
  ])('a body byte by byte, %s: 408', async (_, headers, body) => {
    const { socket, dribble } = await open(service.url);
    socket.write(`POST /graphql HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n${headers}`);
    const slow = dribble(body);
    await expect.poll(() => served()).toBe(true);
    expect(await slow).toMatch(/^HTTP\/1.1 408 /);
  });

  it('whoever asks for much and reads none of it', async () => {
    const deaf = await open(service.url);
    deaf.socket.pause();
    deaf.socket.write(`GET /openapi.json HTTP/1.1\r\n${HOST}\r\n`.repeat(60));
    await expect.poll(() => served()).toBe(true);
    // A client that does not read notices a closed connection only at its second write, after the first one was answered by a reset.
    while (!deaf.socket.destroyed) {
      await Promise.race([sleep(SILENT_MS), deaf.closed]);
      deaf.socket.write('\r\n');
      await Promise.race([sleep(100), deaf.closed]);
      deaf.socket.write('\r\n');
    }
    await expect.poll(() => served()).toBe(true);
  });

  it('500 connections that never ask', async () => {
    const idle = await Promise.all(Array.from({ length: 500 }, () => open(service.url)));
    await expect.poll(() => served()).toBe(true);
    await Promise.all(idle.map(({ closed }) => closed));
    await expect.poll(() => served()).toBe(true);
  });

  it('550 that come while the process gets no turn are let in, and served in their turn', async () => {
    const { process } = service.gateway as RunningGateway;
    process.kill('SIGSTOP');
    const come = async () => {
      const one = await open(service.url);
      one.socket.write(`GET /v1/models HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`);
      return one;
    };
    const many = await Promise.all(Array.from({ length: 550 }, come)).finally(() => process.kill('SIGCONT'));
    await Promise.all(many.map(({ closed }) => closed));
    expect(new Set(many.map(({ heard }) => heard.slice(0, 'HTTP/1.1 200'.length)))).toEqual(new Set(['HTTP/1.1 200']));
  });

  it('a socket that never says who it is: 4408', async () => {
    const mute = await open(service.url);
    mute.socket.write(UPGRADE);
    await expect.poll(() => mute.heard).toContain('HTTP/1.1 101');
    // A close frame contains 0x88, its length, the code and the reason.
    await expect.poll(() => mute.heard).toContain('Connection initialisation timeout');
    expect(mute.heard).toContain(String.fromCharCode(4408 >> 8, 4408 & 0xff));
  });

  it('more connections of one address than leave room for others', async () => {
    const many = await Promise.all(Array.from({ length: 700 }, () => open(service.url, '127.0.0.2')));
    await expect.poll(() => many.filter(({ socket }) => socket.destroyed).length).toBeGreaterThanOrEqual(100);
    expect(await served('127.0.0.3')).toBe(true);
    for (const { socket } of many) socket.destroy();
    await expect.poll(() => served('127.0.0.2')).toBe(true);
  });
});
