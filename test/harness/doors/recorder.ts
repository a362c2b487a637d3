import { type AddressInfo, connect, createServer } from 'node:net';
import { atEnd } from '../release.ts';

/** What came over one connection since it was last asked for. */
export interface ConnectionRecord {
  readonly connection: number;
  readonly from: string | undefined;
  /** Byte for byte, request line and headers included. */
  readonly bytes: string;
}

/** Stands on the wire before a hub and keeps all that is sent to it, and from where. */
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
