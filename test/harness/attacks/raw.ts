import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

/** A bare TCP connection to the service, for a client that follows no protocol. */
export async function open(url: string, from = '127.0.0.1') {
  const { port } = new URL(url);
  const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress: from, noDelay: true });
  onTestFinished(() => void socket.destroy());
  const heard: Buffer[] = [];
  socket.on('data', chunk => heard.push(chunk));
  socket.on('error', () => {});
  // A reset connection ends with `close` too, so its error is ignored.
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()));
  await Promise.race([once(socket, 'connect').catch(() => {}), closed]);
  return {
    socket,
    closed,
    get heard() {
      return Buffer.concat(heard).toString('latin1');
    },
    /** Sends one byte at a time until the text is sent or the service closes the connection. Returns all that the service has answered. */
    async dribble(text: string): Promise<string> {
      for (const byte of text) {
        if (socket.destroyed) break;
        socket.write(byte);
        await Promise.race([sleep(50), closed]);
      }
      await closed;
      return Buffer.concat(heard).toString('latin1');
    },
  };
}

export const HOST = 'Host: 127.0.0.1\r\n';
export const UPGRADE = `GET /graphql HTTP/1.1\r\n${HOST}Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n`;
