import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

export interface HubServer extends AsyncDisposable {
  readonly base_url: string;
  readonly received: ReceivedRequest[];
}

/** A hub over real HTTP whose answers the test writes. */
export async function openHubServer(answer: (response: ServerResponse) => void): Promise<HubServer> {
  const heard: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    response.on('error', () => {});
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    heard.push({ path: request.url ?? '', headers: request.headers, body: text === '' ? null : JSON.parse(text) });
    answer(response);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    received: heard,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

export const completion = {
  id: 'chatcmpl-of-the-hub',
  object: 'chat.completion',
  created: 1,
  model: 'another-name',
  system_fingerprint: 'fp',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Hello', refusal: null },
      finish_reason: 'stop',
      logprobs: null,
    },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4, prompt_tokens_details: { cached_tokens: 0 } },
};

export const answerWith = (body: unknown) => (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** Ways in which a hub fails: [reason that is reported for the attempt, its answer] */
export const hubFailures: readonly (readonly [reason: string, answer: (response: ServerResponse) => void])[] = [
  ['timeout', () => {}],
  ['timeout', response => void response.writeHead(200).write('{"choices":')],
  ['status_500', response => void response.writeHead(500).end('x'.repeat(100_000))],
  ['status_302', response => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
  ['status_429', response => void response.writeHead(429).end()],
  ['unreachable', response => void response.destroy()],
  [
    'cut_off',
    response => {
      response.writeHead(200, { 'content-length': '1000' }).write('{"choices":', () => response.destroy());
    },
  ],
  ['too_large', flood],
  ['not_json', response => void response.writeHead(200).end('{"choices":[')],
  ['not_json', response => void response.writeHead(200).end(Buffer.from([0x22, 0xff, 0x22]))],
  ['not_a_completion', answerWith({ ...completion, choices: [] })],
  ['not_a_completion', answerWith({ error: { message: 'overloaded' } })],
  ['not_a_completion', answerWith(message('\ud800'))],
  ['not_a_completion', answerWith(message(null))],
];

function message(content: string | null): unknown {
  return { ...completion, choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] };
}

/** Sends 100 MB that are no valid answer. */
function flood(response: ServerResponse): void {
  const piece = Buffer.alloc(1024 * 1024, 'x');
  let pieces = 100;
  const pour = () => {
    while (pieces-- > 0 && !response.destroyed) if (!response.write(piece)) return void response.once('drain', pour);
    response.end();
  };
  response.writeHead(200);
  pour();
}
