import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, type LanguageModel, Output, streamText, tool } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Fetch, payingFetch, type Wallet } from '../harness/buyer.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';
import { reachesBeyond } from '../harness/outbound-names.ts';

/* The Vercel AI SDK as anybody installs it, with nothing changed but its `fetch`, which pays. */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
const reached = reachesBeyond();
afterAll(() => expect(reached()).toEqual([]));

type Provider = (url: string, fetch: Fetch) => LanguageModel;
const providers: readonly (readonly [string, Provider])[] = [
  ['@ai-sdk/openai, chat', (baseURL, fetch) => createOpenAI({ baseURL, apiKey: 'none', fetch }).chat('alpha-1')],
  ['@ai-sdk/openai, responses', (baseURL, fetch) => createOpenAI({ baseURL, apiKey: 'none', fetch })('alpha-1')],
  [
    '@ai-sdk/openai-compatible',
    (baseURL, fetch) =>
      createOpenAICompatible({ name: 'svc', baseURL, fetch, supportsStructuredOutputs: true, includeUsage: true })(
        'alpha-1',
      ),
  ],
];

const weather = tool({
  description: 'The weather of a city',
  inputSchema: z.object({ city: z.string(), days: z.int().min(2) }),
  execute: async ({ city, days }) => `${city}: ${days} dry days`,
});
const prompt = 'Who are you?';

describe.each(providers)('%s', (_, provider) => {
  async function buyer() {
    const payer = await service.chain.newWallet();
    const model = provider(`${service.url}/v1`, payingFetch(payer));
    // A former answer is sent whole, not by an id under which nothing is kept.
    return { payer, model, maxRetries: 0, providerOptions: { openai: { store: false } } };
  }
  const paid = async (payer: Wallet) => (await service.transfersFrom(payer)).length;

  it('generateText', async () => {
    const { payer, ...asked } = await buyer();
    const { text, finishReason, usage } = await generateText({ ...asked, prompt, temperature: 0 });
    expect(text).toContain(prompt);
    expect(finishReason).toBe('stop');
    expect(usage.outputTokens).toBeGreaterThan(0);
    expect(await paid(payer)).toBe(1);
  });

  it('streamText', async () => {
    const { payer, ...asked } = await buyer();
    const stream = streamText({ ...asked, prompt });
    const pieces: string[] = [];
    for await (const piece of stream.textStream) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(3);
    expect(pieces.join('')).toContain(prompt);
    expect((await stream.usage).outputTokens).toBeGreaterThan(0);
    expect(await paid(payer)).toBe(1);
  });

  it('generateText with tools: the call, what came of it, and the answer to that', async () => {
    const { payer, ...asked } = await buyer();
    const tools = { weather };
    const { steps, text } = await generateText({ ...asked, prompt, tools, stopWhen: isStepCount(3) });
    expect(steps[0]?.toolCalls).toMatchObject([{ toolName: 'weather', input: { city: 'sample', days: 2 } }]);
    expect(text).toContain('A tool said: "sample: 2 dry days"');
    expect(await paid(payer)).toBe(2);
  });

  it('streamText with tools', async () => {
    const { payer, ...asked } = await buyer();
    const tools = { weather };
    const stream = streamText({ ...asked, prompt, tools, stopWhen: isStepCount(3) });
    expect(await stream.text).toContain('A tool said: "sample: 2 dry days"');
    expect((await stream.steps)[0]?.toolCalls).toMatchObject([{ toolName: 'weather', input: { days: 2 } }]);
    expect(await paid(payer)).toBe(2);
  });

  it('an object by its schema', async () => {
    const { payer, ...asked } = await buyer();
    const schema = z.object({ name: z.string(), tags: z.array(z.string()).min(1), level: z.enum(['low', 'high']) });
    const { output } = await generateText({ ...asked, prompt, output: Output.object({ schema }) });
    expect(output).toEqual({ name: 'sample', tags: ['sample'], level: 'low' });
    expect(await paid(payer)).toBe(1);
  });

  it('by API key', async () => {
    const byKey: Fetch = (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set('Authorization', 'Bearer a-live-key');
      return fetch(input, { ...init, headers });
    };
    const { text } = await generateText({ model: provider(`${service.url}/v1`, byKey), prompt, maxRetries: 0 });
    expect(text).toContain(prompt);
  });
});
