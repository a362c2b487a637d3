import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveTasks } from '../child/answer.ts';
import { completion } from '../stand-still.ts';

export interface HubReady {
  /** The base URL for OpenAI clients, up to the version and including it. */
  readonly base_url: string;
}

const head = { id: 'chatcmpl-hub', created: 1_700_000_000, model: 'bench/small' };
const WHOLE = JSON.stringify({ ...head, object: 'chat.completion', ...completion });
const STREAMED = [
  { delta: { role: 'assistant', content: '' }, finish_reason: null },
  ...Array.from({ length: 20 }, (_, index) => ({ delta: { content: `word ${index} ` }, finish_reason: null })),
  { delta: {}, finish_reason: 'stop' },
]
  .map(choice => ({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] }))
  .map(chunk => `data: ${JSON.stringify(chunk)}\n\n`)
  .join('');

/** A hub that answers at once, so that all added latency is the proxy's. */
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  if (!body.includes('"stream":true')) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(WHOLE) });
    response.end(WHOLE);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(STREAMED);
  response.end('data: [DONE]\n\n');
});
server.keepAliveTimeout = 60_000;
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
const ready: HubReady = { base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
serveTasks(ready, {}, () => server.closeAllConnections());
