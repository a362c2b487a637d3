import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd } from '../../release.ts';

/** What a hub is asked: where, and whether its answer is to stream. */
export interface HubQuery {
  /** Under its base URL. */
  readonly path: string;
  readonly stream: boolean;
}

/** A hub over real HTTP that says, to whatever it is asked for, what the test says; closed after the file's last test. Its base URL. */
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
