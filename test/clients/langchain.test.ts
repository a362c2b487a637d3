import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { payingFetch } from '../harness/buyer.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';
import { reachesBeyond } from '../harness/outbound-names.ts';

/* LangChain as anybody installs it, with nothing changed but its `fetch`, which pays. */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
const reached = reachesBeyond();
afterAll(() => expect(reached()).toEqual([]));

const prompt = 'Who are you?';
const weather = tool(async ({ city, days }) => `${city}: ${days} dry days`, {
  name: 'weather',
  description: 'The weather of a city',
  schema: z.object({ city: z.string(), days: z.int().min(2) }),
});

async function buyer(fields: Partial<ChatOpenAIFields> = {}) {
  const payer = await service.chain.newWallet();
  const configuration = { baseURL: `${service.url}/v1`, fetch: payingFetch(payer) };
  const model = new ChatOpenAI({ model: 'alpha-1', apiKey: 'none', maxRetries: 0, configuration, ...fields });
  return { model, paid: async () => (await service.transfersFrom(payer)).length };
}

describe.each([
  ['chat', false],
  ['responses', true],
])('@langchain/openai, %s', (_, useResponsesApi) => {
  it('invoke', async () => {
    const { model, paid } = await buyer({ useResponsesApi });
    const said = await model.invoke(prompt);
    expect(said.text).toContain(prompt);
    expect(said.usage_metadata?.output_tokens).toBeGreaterThan(0);
    expect(await paid()).toBe(1);
  });

  it('stream', async () => {
    const { model, paid } = await buyer({ useResponsesApi });
    const pieces: string[] = [];
    for await (const piece of await model.stream(prompt)) pieces.push(piece.text);
    expect(pieces.filter(Boolean).length).toBeGreaterThan(3);
    expect(pieces.join('')).toContain(prompt);
    expect(await paid()).toBe(1);
  });

  it('bindTools: the call, and the answer to what came of it', async () => {
    const { model, paid } = await buyer({ useResponsesApi });
    const bound = model.bindTools([weather]);
    const asked = [new HumanMessage(prompt)];
    const called = await bound.invoke(asked);
    const [call] = called.tool_calls ?? [];
    expect(call).toMatchObject({ name: 'weather', args: { city: 'sample', days: 2 } });
    const result = await weather.invoke(call as never);
    const said = await bound.invoke([...asked, called, result as ToolMessage]);
    expect(said.text).toContain('A tool said: "sample: 2 dry days"');
    expect(await paid()).toBe(2);
  });

  it('bindTools, streamed', async () => {
    const { model } = await buyer({ useResponsesApi });
    let whole: Awaited<ReturnType<typeof model.invoke>> | null = null;
    for await (const piece of await model.bindTools([weather]).stream(prompt))
      whole = whole === null ? piece : (whole as typeof piece).concat(piece);
    expect(whole?.tool_calls).toMatchObject([{ name: 'weather', args: { city: 'sample', days: 2 } }]);
  });

  it.each(['jsonSchema', 'functionCalling', 'jsonMode'] as const)('withStructuredOutput by %s', async method => {
    const { model, paid } = await buyer({ useResponsesApi });
    const schema = method === 'jsonMode' ? z.object({ said: z.string() }) : z.object({ name: z.string() });
    const output = await model.withStructuredOutput(schema, { name: 'answer', method }).invoke(prompt);
    expect(output).toEqual(method === 'jsonMode' ? { said: prompt } : { name: 'sample' });
    expect(await paid()).toBe(1);
  });

  it('by API key', async () => {
    const { model, paid } = await buyer({ useResponsesApi, apiKey: 'a-live-key' });
    expect((await model.invoke(prompt)).text).toContain(prompt);
    expect(await paid()).toBe(0);
  });
});
