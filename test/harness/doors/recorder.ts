import { type AddressInfo, connect, createServer } from 'node:net';
import { atEnd } from '../release.ts';

/** What one connection has transferred since the last call of `take`. */
export interface ConnectionRecord {
  readonly connection: number;
  readonly from: string | undefined;
  /** All bytes, including request lines and headers. */
  readonly bytes: string;
}

/** A TCP proxy in front of a hub that records every byte that is sent to it, and from which address. */
export async function startRecorder(target: string) {
  const { hostname, port, pathname } = new URL(target);
  let recorded: { connection: number; from: string | undefined; chunks: Buffer[] }[] = [];
  let connections = 0;
  const server = createServer(socket => {
    const connection = ++connections;
    const hub = connect(Number(port), hostname);
    for (const [one, other] of [
      [socket, hub],
      [hub, socket],
    ] as const) {
      one.pipe(other);
      one.on('error', () => other.destroy());
    }
    socket.on('data', (chunk: Buffer) => {
      const known = recorded.find(request => request.connection === connection);
      if (known) known.chunks.push(chunk);
      else recorded.push({ connection, from: socket.remoteAddress, chunks: [chunk] });
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => void server.close());
  return {
    base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    take(): ConnectionRecord[] {
      const taken = recorded.map(({ chunks, ...rest }) => ({
        ...rest,
        bytes: Buffer.concat(chunks).toString('latin1'),
      }));
      recorded = [];
      return taken;
    },
  };
}
