import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { atEnd } from '../release.ts';

export type Gate = Awaited<ReturnType<typeof startGate>>;

/** A proxy in front of an HTTP service. It passes requests on, holds them until it is opened, or cuts their connections. */
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
    const headers = { 'content-type': incoming.headers['content-type'] ?? 'application/json' };
    const path = incoming.url === '/' ? '' : incoming.url;
    const hung_up = new AbortController();
    response.once('close', () => hung_up.abort());
    const passed_on = { method: 'POST', headers, body, signal: hung_up.signal };
    const answer = await fetch(target + path, passed_on).catch(() => null);
    if (answer === null) return void response.destroy();
    const wait = answer.headers.get('retry-after');
    const type = { 'content-type': answer.headers.get('content-type') ?? '' };
    response.writeHead(answer.status, { ...type, ...(wait !== null && { 'retry-after': wait }) });
    // Passes on each piece as it arrives. If either side breaks off, `pipeline` ends the other.
    await pipeline(Readable.fromWeb(answer.body as ReadableStream), response).catch(() => {});
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Number of requests that were ever held. */
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
