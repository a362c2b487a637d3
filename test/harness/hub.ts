import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerTo, chatRequest, type HubChat, hubChunks, hubCompletion } from '../../gateway/development/hub/answer.ts';
import { answerByHabit, type HabitModel } from '../../gateway/development/hub/habits.ts';
import { mediaAnswers } from '../../gateway/development/hub/media.ts';
import { atEnd } from './release.ts';

export type HubBehaviour =
  | {
      readonly kind: 'answer';
      readonly delay_ms?: number;
      /** Sends nothing until this resolves. */
      readonly until?: Promise<unknown>;
      readonly in_stream?: InStream;
    }
  /** Answers like a development hub that is asked for this model, regardless of the requested model. */
  | { readonly kind: 'habit'; readonly model: HabitModel }
  | { readonly kind: 'status'; readonly status: number; readonly body?: unknown }
  /** Streams these events and then ends. */
  | { readonly kind: 'events'; readonly events: readonly object[] }
  /** Accepts the request and never answers. */
  | { readonly kind: 'hang' }
  /** Closes the connection after the request is read. */
  | { readonly kind: 'close' };

/** What happens in a streamed answer after that many words. */
export interface InStream {
  readonly after_words: number;
  readonly does:
    | 'close'
    | 'hang'
    | 'bad_json'
    /** Sends more data than any client reads. */
    | 'flood'
    /** Continues when this resolves. */
    | Promise<unknown>;
}

export interface HubRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Parsed body. Null if it is not JSON. */
  readonly body: unknown;
  readonly bytes: Buffer<ArrayBuffer>;
}

export type TestHub = Awaited<ReturnType<typeof startTestHub>>;

interface TestHubOptions {
  readonly name: string;
  readonly models: readonly string[];
  readonly image_models?: readonly string[];
  readonly audio_models?: readonly string[];
  readonly embedding_models?: readonly string[];
  readonly vision_models?: readonly string[];
  readonly audio_input_models?: readonly string[];
  readonly file_input_models?: readonly string[];
  readonly reasoning_models?: readonly string[];
}

/** A hub that records its requests and whose behaviour a test sets. It is closed after the file's last test. */
export async function startTestHub(options: TestHubOptions) {
  const requests: HubRequest[] = [];
  let deserted = 0;
  let behaviour: HubBehaviour | ((request: HubRequest) => HubBehaviour) = { kind: 'answer' };
  const server = createServer(async (incoming, response) => {
    const request = await readRequest(incoming);
    requests.push(request);
    response
      .on('error', () => {})
      .once('close', () => {
        if (!response.writableEnded) deserted++;
      });
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
    /** Number of answers that ended early because either side closed the connection. */
    deserted: () => deserted,
    /** The hub's element of the HUBS setting. */
    config: { ...options, base_url, api_key: `key-of-${options.name}` },
    behave(next: typeof behaviour): void {
      behaviour = next;
    },
    /** Restores normal answers and clears the recorded requests. */
    forget(): void {
      behaviour = { kind: 'answer' };
      requests.length = 0;
      deserted = 0;
    },
    close,
  };
}

async function readRequest(incoming: IncomingMessage): Promise<HubRequest> {
  const bytes = await buffer(incoming);
  const { method = '', url: path = '', headers } = incoming;
  return { method, path, headers, body: jsonIn(bytes), bytes };
}

function jsonIn(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return null;
  }
}

async function act(behaviour: HubBehaviour, hub: string, request: HubRequest, response: ServerResponse): Promise<void> {
  if (behaviour.kind === 'hang') return;
  if (behaviour.kind === 'close') return void response.destroy();
  if (behaviour.kind === 'events') {
    const data = [...behaviour.events.map(event => JSON.stringify(event)), '[DONE]'];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return void response.end(data.map(event => `data: ${event}\n\n`).join(''));
  }
  if (behaviour.kind === 'status')
    return send(response, behaviour.status, behaviour.body ?? { error: { message: 'as told' } });
  if (request.method === 'GET') return send(response, 404, { error: { message: 'nothing to read here' } });
  if (behaviour.kind === 'habit') {
    const asked = { ...chatRequest.parse(request.body), model: behaviour.model };
    return answerByHabit(asked, response, new Set()) ? undefined : answerChat(hub, asked, response);
  }
  await sleep(behaviour.delay_ms ?? 0);
  await behaviour.until;
  const media = mediaAnswers[request.path];
  if (media) {
    const { headers, bytes } = request;
    const { 'content-type': content_type = '', host } = headers;
    const { body } = await media({ hub, content_type, bytes, created: CREATED, base_url: `http://${host}/v1` });
    return send(response, 200, body);
  }
  await answerChat(hub, chatRequest.parse(request.body), response, behaviour.in_stream);
}

async function answerChat(hub: string, asked: HubChat, response: ServerResponse, in_stream?: InStream): Promise<void> {
  const answer = answerTo(hub, asked);
  if (!asked.stream) return send(response, 200, hubCompletion(asked, answer, CREATED));
  await stream(response, hubChunks(asked, answer, CREATED), in_stream);
}

const CREATED = 1_700_000_000;

async function stream(
  response: ServerResponse,
  { first, words, last }: ReturnType<typeof hubChunks>,
  in_stream: InStream | undefined,
): Promise<void> {
  const say = (data: string) => response.write(`data: ${data}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  say(JSON.stringify(first));
  const spoken = words.slice(0, in_stream?.after_words ?? words.length);
  for (const chunk of spoken) say(JSON.stringify(chunk));
  switch (in_stream?.does) {
    case 'hang':
      return;
    case 'close':
      // Destroys the socket only after the bytes are sent, because destroying it discards unsent bytes.
      return void response.write(': bye\n\n', () => response.destroy());
    case 'bad_json':
      say('{"choices":[{"delta":');
      break;
    case 'flood':
      return flood(response, JSON.stringify(words[0]).replace(/"content":"/, `$&${'x'.repeat(64 * 1024)}`));
    default:
      await in_stream?.does;
  }
  for (const chunk of [...words.slice(spoken.length), ...last]) say(JSON.stringify(chunk));
  response.end('data: [DONE]\n\n');
}

async function flood(response: ServerResponse, data: string): Promise<void> {
  const gone = once(response, 'close');
  while (!response.destroyed) {
    if (!response.write(`data: ${data}\n\n`)) await Promise.race([once(response, 'drain'), gone]);
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
