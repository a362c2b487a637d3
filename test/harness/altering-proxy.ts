import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { atEnd } from './release.ts';

interface ProxiedCall {
  readonly method: string;
  readonly path: string;
  /** The body of the request. */
  readonly text: string;
  readonly answer: { readonly status: number; readonly text: string };
}

/** Returns the body for the client. Null cuts the connection after the service has answered. */
type AlterAnswer = (call: ProxiedCall) => string | null | Promise<string | null>;

/** A proxy in front of a service that can alter the service's answers. @returns its URL */
export async function openAlteringProxy(service: { readonly url: string }, meddle: AlterAnswer): Promise<string> {
  const server = createServer(async (request, response) => {
    const { method = 'GET', url: path = '/' } = request;
    const { host, connection, 'content-length': length, ...kept } = request.headers;
    const headers = { ...(kept as Record<string, string>), 'accept-encoding': 'identity' };
    const body = await textOf(request);
    const answer = await fetch(service.url + path, { method, headers, ...(body !== '' && { body }) });
    const answered = { status: answer.status, text: await answer.text() };
    const text = await meddle({ method, path, text: body, answer: answered });
    if (text === null) return request.socket.destroy();
    const passed = [...answer.headers].filter(
      ([name]) => !['content-length', 'transfer-encoding', 'connection'].includes(name),
    );
    response.writeHead(answer.status, Object.fromEntries(passed)).end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
