import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerTo, chatRequest } from '../../gateway/development/hub/answer.ts';
import { atEnd } from './release.ts';

export type HubBehaviour =
  | { readonly kind: 'answer'; readonly delay_ms?: number }
  | { readonly kind: 'status'; readonly status: number; readonly body?: unknown }
  /** Takes the request and never answers. */
  | { readonly kind: 'hang' }
  /** Drops the connection once the request is read. */
  | { readonly kind: 'close' };

export interface HubRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

export type TestHub = Awaited<ReturnType<typeof startTestHub>>;

/** A hub that behaves as told and remembers what it was asked; closed after the file's last test. */
export async function startTestHub(options: { readonly name: string; readonly models: readonly string[] }) {
  const requests: HubRequest[] = [];
  let behaviour: HubBehaviour | ((request: HubRequest) => HubBehaviour) = { kind: 'answer' };
  const server = createServer(async (incoming, response) => {
    const request = await readRequest(incoming);
    requests.push(request);
    await act(typeof behaviour === 'function' ? behaviour(request) : behaviour, options.name, request, response);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>(resolve => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  atEnd(close);
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    base_url,
    requests,
    /** One member of the HUBS variable. */
    config: { name: options.name, base_url, api_key: `key-of-${options.name}`, models: [...options.models] },
    behave(next: typeof behaviour): void {
      behaviour = next;
    },
    close,
  };
}

async function readRequest(incoming: IncomingMessage): Promise<HubRequest> {
  const body = await json(incoming).catch(() => null);
  return { method: incoming.method ?? '', path: incoming.url ?? '', headers: incoming.headers, body };
}

async function act(behaviour: HubBehaviour, hub: string, request: HubRequest, response: ServerResponse): Promise<void> {
  if (behaviour.kind === 'hang') return;
  if (behaviour.kind === 'close') return void response.destroy();
  if (behaviour.kind === 'status')
    return send(response, behaviour.status, behaviour.body ?? { error: { message: 'as told' } });
  await sleep(behaviour.delay_ms ?? 0);
  const asked = chatRequest.parse(request.body);
  const { id, words, finish_reason, usage } = answerTo(hub, asked);
  const choices = [{ index: 0, message: { role: 'assistant', content: words.join('') }, finish_reason }];
  send(response, 200, { id, object: 'chat.completion', created: 1_700_000_000, model: asked.model, choices, usage });
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
