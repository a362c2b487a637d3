import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { atEnd } from './release.ts';

/** A TCP proxy to a service on this machine, whose open connections a test can cut. It continues to accept new ones. */
export async function openBreakableConnection(target: string) {
  const open = new Set<Socket>();
  const server = createServer(near => {
    const far = connect(Number(new URL(target).port), '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on('error', () => {});
      one.once('close', () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  atEnd(() => {
    server.close();
    cut();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut, open: () => open.size };
}
