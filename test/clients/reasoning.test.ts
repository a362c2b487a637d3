import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { answerHabits } from '../../gateway/development/hub/habits.ts';
import { type DevelopmentHub, startDevelopmentHub } from '../../gateway/development/hub/start.ts';
import { type Fetch, payingFetch } from '../harness/buyer.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { atEnd } from '../harness/release.ts';

/*
 * What official clients make of hubs that think: through this service the same as straight from the hub, with nothing changed but the
 * address and a `fetch` that pays.
 */

const API_KEY = 'sk-development-4f1b7c';
const models = Object.keys(answerHabits);
let hub: DevelopmentHub;
let service: Service;
beforeAll(async () => {
  hub = await startDevelopmentHub({ name: 'alpha', models, api_key: API_KEY });
  atEnd(hub.close);
  const settings = { name: 'alpha', base_url: hub.base_url, api_key: API_KEY, models };
  service = await openService({ HUBS: JSON.stringify([settings]) });
});

interface ClientAddress {
  readonly baseURL: string;
  readonly fetch: Fetch;
}
const straight = (): ClientAddress => ({ baseURL: hub.base_url, fetch });
const through = async (): Promise<ClientAddress> => ({
  baseURL: `${service.url}/v1`,
  fetch: payingFetch(await service.chain.newWallet()),
});
const both = async <T>(outcome: (reached: ClientAddress) => Promise<T>) => {
  const [expected, actual] = [await outcome(straight()), await outcome(await through())];
  expect(actual).toEqual(expected);
  return actual;
};

const prompt = 'Which is greater, 9.11 or 9.8?';
const messages = [{ role: 'user' as const, content: prompt }];
const THOUGHT = 'Compare 9.80 with 9.11.';
const ANSWER = '9.8 is greater.';
const thinking = ['dev/thinking', 'dev/thinking-details'] as const;

describe.each(thinking)('the AI SDK, @ai-sdk/openai-compatible, on %s', name => {
  const modelAt = ({ baseURL, fetch: by }: ClientAddress) =>
    createOpenAICompatible({ name: 'svc', baseURL, apiKey: API_KEY, fetch: by, includeUsage: true })(name);

  it('generateText shows what was thought and counts it', async () => {
    const outcome = await both(async reached => {
      const { text, reasoningText, finishReason, usage } = await generateText({ model: modelAt(reached), prompt });
      return { text, reasoningText, finishReason, reasoning: usage.outputTokenDetails.reasoningTokens };
    });
    expect(outcome).toEqual({ text: ANSWER, reasoningText: THOUGHT, finishReason: 'stop', reasoning: 7 });
  });

  it('streamText the same, piece by piece', async () => {
    const outcome = await both(async reached => {
      const stream = streamText({ model: modelAt(reached), prompt });
      const thought: string[] = [];
      for await (const part of stream.fullStream) if (part.type === 'reasoning-delta') thought.push(part.text);
      const { outputTokenDetails } = await stream.usage;
      return { thought, text: await stream.text, reasoning: outputTokenDetails.reasoningTokens };
    });
    expect(outcome).toEqual({ thought: ['Compare 9.80', ' with 9.11.'], text: ANSWER, reasoning: 7 });
  });
});

describe.each([...thinking, 'dev/thinks-to-the-limit', 'dev/sparse'] as const)('the openai client on %s', model => {
  const clientAt = ({ baseURL, fetch: by }: ClientAddress) =>
    new OpenAI({ baseURL, apiKey: API_KEY, maxRetries: 0, fetch: by });

  it('create: the message with all its members, and the usage with its details', async () => {
    const { message, usage } = await both(async reached => {
      const completion = await clientAt(reached).chat.completions.create({ model, messages });
      const [choice] = completion.choices;
      const { role = 'assistant', content, refusal: _, ...rest } = { ...choice?.message } as Record<string, unknown>;
      const thought = { reasoning_content: rest.reasoning_content, reasoning: rest.reasoning };
      const details = completion.usage?.completion_tokens_details;
      return { message: { role, content, ...thought, details: rest.reasoning_details }, usage: details };
    });
    expect(message.role).toBe('assistant');
    if (model === 'dev/thinking-details' || model === 'dev/thinking')
      expect(usage).toMatchObject({ reasoning_tokens: 7 });
  });

  it('create with stream: what each chunk adds, in its order', async () => {
    const pieces = await both(async reached => {
      const stream = await clientAt(reached).chat.completions.create({ model, messages, stream: true });
      const told: unknown[] = [];
      for await (const { choices } of stream) {
        const { content, reasoning_content, reasoning, reasoning_details } = (choices[0]?.delta ?? {}) as Record<
          string,
          unknown
        >;
        const piece = { content, reasoning_content, reasoning, reasoning_details };
        const said = Object.entries(piece).filter(([, value]) => value !== '' && value !== null && value !== undefined);
        if (said.length > 0) told.push(Object.fromEntries(said));
      }
      return told;
    });
    expect(pieces.length).toBeGreaterThan(1);
  });
});

describe('the openai client, responses, on dev/thinking', () => {
  const open = async () => {
    const { baseURL, fetch: by } = await through();
    return new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0, fetch: by });
  };
  const asked = { model: 'dev/thinking', input: prompt };
  const output = [
    { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: THOUGHT }] },
    { type: 'message', content: [{ type: 'output_text', text: ANSWER }] },
  ];
  const counted = { input_tokens_details: { cached_tokens: 4 }, output_tokens_details: { reasoning_tokens: 7 } };

  it('create: reasoning is an item of the output', async () => {
    const response = await (await open()).responses.create(asked);
    expect(response).toMatchObject({ output, output_text: ANSWER, usage: counted });
  });

  it('stream: the response as its helper puts it together, and its events in their order', async () => {
    const stream = (await open()).responses.stream(asked);
    const types: string[] = [];
    const thought: string[] = [];
    for await (const event of stream) {
      if (event.type !== types.at(-1)) types.push(event.type);
      if (event.type === 'response.reasoning_text.delta') thought.push(event.delta);
    }
    const response = await stream.finalResponse();
    expect(response).toMatchObject({ output, usage: counted });
    expect(thought).toEqual(['Compare 9.80', ' with 9.11.']);
    expect(types.slice(2, 5)).toEqual([
      'response.output_item.added',
      'response.content_part.added',
      'response.reasoning_text.delta',
    ]);
    expect(types).toContain('response.reasoning_text.done');
  });
});

describe('the AI SDK, @ai-sdk/openai, responses, on dev/thinks-to-the-limit', () => {
  it('generateText and streamText end with length, as the hub did', async () => {
    const { baseURL, fetch: by } = await through();
    const model = createOpenAI({ baseURL, apiKey: 'none', fetch: by })('dev/thinks-to-the-limit');
    const { finishReason, text } = await generateText({ model, prompt, maxRetries: 0 });
    expect({ finishReason, text }).toEqual({ finishReason: 'length', text: '' });
    const stream = streamText({ model, prompt: `${prompt} Streamed.`, maxRetries: 0 });
    expect(await stream.finishReason).toBe('length');
  });
});
