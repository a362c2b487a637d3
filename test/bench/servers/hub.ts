import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answer } from '../child/answer.ts';

export interface HubReady {
  /** Up to and including the version, as hubs are configured. */
  readonly base_url: string;
}

/** A hub that answers at once, over real HTTP: a paid call asks one, so the asking is part of its price. */
const completion = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'bench/small',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Answered at once.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 },
});
const server = createServer((request, response) => {
  request.resume().once('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(completion));
});
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
const ready: HubReady = { base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
answer(ready, {}, () => server.closeAllConnections());
