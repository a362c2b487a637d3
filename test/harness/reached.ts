import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** Where this process has connected to, or tried to, beyond its own machine, since it was first asked. */
const beyond: string[] = [];

subscribe('net.client.socket', message => {
  const { socket } = message as { socket: Socket };
  socket.on('lookup', (_error, address, _family, host) => note(address, host));
  socket.on('connect', () => note(socket.remoteAddress, ''));
});

function note(address: string | undefined, host: string): void {
  if (address === undefined || /^(127\.|::1$|::ffff:127\.)/.test(address)) return;
  beyond.push(`${host} ${address}`);
}

/** No client may report home. A name that nobody could resolve counts: it was asked for. */
export function reachedBeyond(): readonly string[] {
  return beyond;
}
