import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveTasks } from '../child/answer.ts';
import { trustingFacilitator } from '../facilitators.ts';

export interface FacilitatorReady {
  readonly url: string;
}

/** Accepts everything at once over real HTTP. A call causes two requests. */
const { verify, settle, getSupported } = trustingFacilitator();
const nothing = {} as never;
const answers: Readonly<Record<string, string>> = {
  '/verify': JSON.stringify(await verify(nothing, nothing)),
  '/settle': JSON.stringify(await settle(nothing, nothing)),
  '/supported': JSON.stringify(await getSupported()),
};
const server = createServer((request, response) => {
  const body = answers[request.url ?? ''] ?? '{}';
  request.resume().once('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(body));
});
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
const ready: FacilitatorReady = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
serveTasks(ready, {}, () => server.closeAllConnections());
