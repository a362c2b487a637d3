import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const answer = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'bench/small',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Answered at once.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 },
});

/** A hub that answers at once, over real HTTP: a paid call asks one, so the asking is part of its price. */
export async function startBenchHub() {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(answer));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    config: { name: 'bench', base_url, api_key: 'bench', models: ['bench/small'] },
    close: () => server.closeAllConnections(),
  };
}
