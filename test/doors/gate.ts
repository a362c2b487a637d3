import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { atEnd } from '../harness/release.ts';

export type Gate = Awaited<ReturnType<typeof startGate>>;

/** Stands before an HTTP service and lets requests through, holds them until it is opened, or cuts them off. */
export async function startGate(target: string) {
  let opening: PromiseWithResolvers<void> | null = null;
  let cut = false;
  let held = 0;
  const server = createServer(async (incoming, response) => {
    const body = await buffer(incoming);
    if (opening) {
      held++;
      await opening.promise;
    }
    if (cut) return void response.destroy();
    const headers = { 'content-type': 'application/json' };
    const path = incoming.url === '/' ? '' : incoming.url;
    const answer = await fetch(target + path, { method: 'POST', headers, body }).catch(() => null);
    if (answer === null) return void response.destroy();
    response.writeHead(answer.status, headers).end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** How many requests were ever held. */
    held: () => held,
    hold(): void {
      opening ??= Promise.withResolvers();
    },
    cut(): void {
      cut = true;
    },
    open(): void {
      cut = false;
      opening?.resolve();
      opening = null;
    },
  };
}
