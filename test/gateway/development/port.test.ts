import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { freePort } from '../../../gateway/development/port.ts';

async function listening(port: number) {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

it('a port that is kept is none that an outgoing connection is given', async () => {
  const server = await listening(0);
  const { port } = server.address() as AddressInfo;
  const sockets = Array.from({ length: 40 }, () => connect(port, '127.0.0.1'));
  await Promise.all(sockets.map(socket => once(socket, 'connect')));
  const given = sockets.map(({ localPort = 0 }) => localPort);
  const kept = await Promise.all(given.map(() => freePort()));
  for (const port of kept) expect(port < Math.min(...given) || port > Math.max(...given)).toBe(true);
  for (const socket of sockets) socket.destroy();
  server.close();
});

it('the port of before is taken again where it is free, and another where it is not', async () => {
  const before = await freePort();
  expect(await freePort(before)).toBe(before);
  const server = await listening(before);
  expect(await freePort(before)).not.toBe(before);
  server.close();
});
