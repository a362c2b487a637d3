import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { atEnd } from '../release.ts';

/** An envelope, with the members that tests read. */
export type Envelope = JsonObject & {
  readonly id: string;
  readonly kind: string;
  readonly agent_id: number;
  readonly number: number | null;
  readonly position: number;
  readonly event: JsonObject;
};

export interface ReceivedMessage {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: Envelope;
  readonly at_ms: number;
}

/** The receiver's answer: a status with headers, or none. */
type Answer = { readonly status: number; readonly headers?: Record<string, string>; readonly text?: string } | 'hang';

const POLL_MS_MAX = 20_000;

/** A receiver of webhooks on loopback. By default it accepts everything. */
export async function openReceiver(answer: (received: ReceivedMessage) => Answer = () => ({ status: 200 })) {
  const received: ReceivedMessage[] = [];
  let connections = 0;
  let rule = answer;
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request).catch(() => null);
    if (body === null) return;
    const message: ReceivedMessage = {
      path: request.url ?? '',
      headers: request.headers as Record<string, string>,
      text: body,
      body: body === '' ? {} : JSON.parse(body),
      at_ms: Date.now(),
    };
    received.push(message);
    const said = rule(message);
    if (said === 'hang') return;
    response.writeHead(said.status, said.headers).end(said.text ?? '');
  });
  server.on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const named = (what: (message: ReceivedMessage) => string) => received.map(what);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    received,
    get connections() {
      return connections;
    },
    answerWith(next: (received: ReceivedMessage) => Answer) {
      rule = next;
    },
    ids: () => named(({ body }) => body.id),
    /** Resolves once that many different messages have arrived. */
    async untilMessages(count: number): Promise<readonly ReceivedMessage[]> {
      await expect
        .poll(() => new Set(named(({ body }) => body.id)).size, { timeout: POLL_MS_MAX })
        .toBeGreaterThanOrEqual(count);
      return received;
    },
    /** Resolves once that many requests have arrived. */
    async untilRequests(count: number): Promise<readonly ReceivedMessage[]> {
      await expect.poll(() => received.length, { timeout: POLL_MS_MAX }).toBeGreaterThanOrEqual(count);
      return received;
    },
  };
}

export type Receiver = Awaited<ReturnType<typeof openReceiver>>;
