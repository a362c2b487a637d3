import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd } from '../../release.ts';

/** A request to a hub: its path, and whether the answer must stream. */
export interface HubQuery {
  /** Path below the base URL. */
  readonly path: string;
  readonly stream: boolean;
}

/** A hub over real HTTP that answers every request as the test writes. Returns its base URL. It is closed after the file's last test. */
export async function openScriptedHub(speak: (asked: HubQuery, response: ServerResponse) => void): Promise<string> {
  const server = createServer(async (request, response) => {
    response.on('error', () => {});
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const stream = Buffer.concat(chunks).includes('"stream":true');
    speak({ path: (request.url ?? '').replace('/v1', ''), stream }, response);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  atEnd(async () => {
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}
