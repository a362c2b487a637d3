import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveTasks, startOptions } from '../child/answer.ts';

export interface Bare402Given {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Bare402Ready {
  readonly url: string;
}

/** Answers every request with the same 402. */
const { headers, body } = startOptions<Bare402Given>();
const server = createServer((request, response) => {
  request.resume().once('end', () => response.writeHead(402, headers).end(body));
});
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
const ready: Bare402Ready = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
serveTasks(ready, {}, () => server.closeAllConnections());
