import { readFile } from 'node:fs/promises';
import Anthropic from '@anthropic-ai/sdk';
import { beforeAll, expect, it } from 'vitest';
import { payingFetch } from '../../harness/buyer.ts';
import { type Service, sharedService } from '../../harness/doors/open-service.ts';

/* The usual request of a command-line coding agent, byte for byte as in the fixture, whose `source` names its origin. */

interface Fixture {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Anthropic.MessageCreateParamsStreaming;
}

let service: Service;
let fixture: Fixture;
beforeAll(async () => {
  service = await sharedService();
  service.hubs[0].forget();
  const file = new URL('../../harness/fixtures/coding-agent-request.json', import.meta.url);
  fixture = JSON.parse(await readFile(file, 'utf8'));
});

it('is answered in events that its client puts together, paid once', async () => {
  const payer = await service.chain.newWallet();
  const { path, headers, body } = fixture;
  const paying = payingFetch(payer);
  const sent: typeof fetch = (_, init) =>
    paying(service.url + path, { method: 'POST', headers, body: JSON.stringify(body), signal: init?.signal ?? null });
  const client = new Anthropic({ baseURL: service.url, apiKey: 'none', maxRetries: 0, fetch: sent });
  const message = await client.messages.stream(body).finalMessage();
  expect(message.stop_reason).toBe('tool_use');
  expect(message.content).toMatchObject([{ type: 'tool_use', name: 'Task', input: { description: 'sample' } }]);
  expect(await service.transfersFrom(payer)).toHaveLength(1);
});

it('reaches the hub whole: its prompt, its tools, the turns and how hard to think', async () => {
  const { body } = fixture;
  const heard = service.hubs[0].requests.at(-1)?.body as {
    messages: { role: string; content: string }[];
    tools: unknown[];
  };
  const system = (body.system as Anthropic.TextBlockParam[]).map(block => block.text).join('\n\n');
  expect(heard.messages[0]).toEqual({ role: 'system', content: system });
  expect(heard.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'tool', 'user']);
  expect(heard.tools).toEqual(
    (body.tools as Anthropic.Tool[]).map(({ name, description, input_schema }) => ({
      type: 'function',
      function: { name, description, parameters: input_schema },
    })),
  );
  expect(JSON.stringify(heard)).not.toContain('user_0f1e');
});

it('is counted for nothing', async () => {
  const { stream: _, max_tokens: __, metadata: ___, ...body } = fixture.body;
  const counted = await service.post<{ input_tokens: number }>(
    '/v1/messages/count_tokens?beta=true',
    body,
    fixture.headers,
  );
  expect(counted.status).toBe(200);
  // Some 20,000 bytes of prompt and 9,000 of tools.
  expect(counted.body.input_tokens).toBeGreaterThan(6_000);
});
