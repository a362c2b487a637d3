import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { z } from 'zod';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type {
  BroadcastGenerationNoun,
  OpenedRouterBookNoun,
  RouterBookSummaryNoun,
} from '../../../schema/router/book.ts';
import { atEnd } from '../release.ts';
import type { Service } from './open-service.ts';

/** A request that a router received. */
interface RouterRequest {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

type RouterBehaviour = (asked: RouterRequest, response: ServerResponse) => void;

/** A stand-in for a router by another vendor, which answers look-ups as a test sets it. It is closed after the file's last test. */
export async function startRouter() {
  const asked: RouterRequest[] = [];
  let answering: RouterBehaviour = (_asked, response) => void response.writeHead(404).end();
  const server = createServer(({ url = '', headers }, response) => {
    asked.push({ url, headers });
    answering({ url, headers }, response);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  atEnd(
    () =>
      new Promise<void>(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return {
    host,
    /** The URL up to the version and including it. */
    base_url: `http://${host}/api/v1`,
    asked,
    /** Sets a handler that writes the answer itself. */
    behave(next: RouterBehaviour): void {
      answering = next;
    },
    /** Answers each look-up with this generation. `cost` is the text of a JSON number. */
    answerWithCost(told: { readonly id?: string; readonly model: string; readonly cost: string }): void {
      answering = ({ url }, response) => {
        const id = told.id ?? new URL(url, 'http://router').searchParams.get('id');
        const { model, cost } = told;
        const data = `{"id":${JSON.stringify(id)},"model":${JSON.stringify(model)},"total_cost":${cost},"streamed":false}`;
        response.writeHead(200, { 'content-type': 'application/json' }).end(`{"data":${data}}`);
      };
    },
  };
}

type OpenedBook = z.infer<typeof OpenedRouterBookNoun>;
type Summary = z.infer<typeof RouterBookSummaryNoun>;
export type Broadcast = z.infer<typeof BroadcastGenerationNoun>;

let counted = 0;
/** A report of a generation. It is a new one unless `generation_id` is given. */
export const report = (members: JsonObject = {}): JsonObject => ({
  generation_id: `gen-${++counted}`,
  model: 'some/model',
  amount: '1250',
  rail: 'credits',
  ...members,
});

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** Calls of the endpoints of router books. */
export function routerDoorsOf(service: () => Service) {
  return {
    open: (body: JsonObject = {}, headers = {}) => service().post<OpenedBook>('/v1/router/books', body, headers),
    setKey: (book_id: string, key: unknown, headers: Readonly<Record<string, string>>) =>
      service().knock<JsonObject>('PUT', `/v1/router/books/${book_id}/router-key`, { body: { key }, headers }),
    broadcast: (key: string, body: JsonObject) => service().post<Broadcast>('/v1/router/broadcast', body, bearer(key)),
    summary: (book_id: string, headers: Readonly<Record<string, string>>) =>
      service().get<Summary>(`/v1/router/books/${book_id}/summary`, headers),
  };
}
