import {
  Agent,
  type AgentInputItem,
  type Model,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  Runner,
  tool,
} from '@openai/agents';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { payingFetch } from '../harness/buyer.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';
import { reachesBeyond } from '../harness/outbound-names.ts';

/* OpenAI's agents as installed from npm, with only the paying `fetch` of their client changed. */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
const reached = reachesBeyond();
afterAll(() => expect(reached()).toEqual([]));

const prompt = 'The weather in Vienna?';
const DRY = 'A tool said: "sample: 2 dry days"';
const weather = tool({
  name: 'weather',
  description: 'The weather of a city',
  parameters: z.object({ city: z.string(), days: z.int().min(2) }),
  execute: async ({ city, days }) => `${city}: ${days} dry days`,
});

type ModelOf = (client: OpenAI, name: string) => Model;

async function buyer(modelOf: ModelOf) {
  const payer = await service.chain.newWallet();
  const client = new OpenAI({
    baseURL: `${service.url}/v1`,
    apiKey: 'none',
    maxRetries: 0,
    fetch: payingFetch(payer),
  });
  const model = modelOf(client, 'alpha-1');
  // Traces would go to OpenAI, whatever the model.
  const runner = new Runner({ tracingDisabled: true });
  return { model, runner, paid: async () => (await service.transfersFrom(payer)).length };
}

describe.each<[api: string, modelOf: ModelOf]>([
  ['chat completions', (client, name) => new OpenAIChatCompletionsModel(client, name)],
  ['responses', (client, name) => new OpenAIResponsesModel(client, name)],
])('@openai/agents, %s', (_, modelOf) => {
  it('run: its tool is called, and the answer is to what came of it', async () => {
    const { model, runner, paid } = await buyer(modelOf);
    const agent = new Agent({ name: 'Forecaster', instructions: 'You know the weather.', model, tools: [weather] });
    const result = await runner.run(agent, prompt);
    expect(result.finalOutput).toContain(DRY);
    expect(await paid()).toBe(2);
  });

  it('run, streamed: the text as it comes, and the same end', async () => {
    const { model, runner, paid } = await buyer(modelOf);
    const agent = new Agent({ name: 'Forecaster', model, tools: [weather] });
    const result = await runner.run(agent, prompt, { stream: true });
    const pieces: string[] = [];
    for await (const piece of result.toTextStream()) pieces.push(String(piece));
    await result.completed;
    expect(pieces.filter(Boolean).length).toBeGreaterThan(3);
    expect(pieces.join('')).toContain(DRY);
    expect(result.finalOutput).toContain(DRY);
    expect(await paid()).toBe(2);
  });

  it.each([false, true])('goes on from its own history, streamed: %s', async stream => {
    const { model, runner, paid } = await buyer(modelOf);
    const agent = new Agent({ name: 'Forecaster', model, tools: [weather] });
    const run = async (input: string | AgentInputItem[]) => {
      if (!stream) return runner.run(agent, input);
      const result = await runner.run(agent, input, { stream: true });
      await result.completed;
      return result;
    };
    const first = await run(prompt);
    const second = await run([...first.history, { role: 'user', content: 'And in Graz?' }]);
    expect(second.finalOutput).toContain('And in Graz?');
    expect(await paid()).toBe(4);
  });

  it('hands over to another agent, which answers', async () => {
    const { model, runner, paid } = await buyer(modelOf);
    const forecaster = new Agent({ name: 'Forecaster', model, handoffDescription: 'Knows the weather.' });
    const desk = new Agent({ name: 'Desk', model, handoffs: [forecaster] });
    const result = await runner.run(desk, prompt);
    expect([result.lastAgent?.name, result.finalOutput]).toEqual(['Forecaster', expect.stringContaining(prompt)]);
    expect(await paid()).toBe(2);
  });

  it('its output is an object by a schema', async () => {
    const { model, runner, paid } = await buyer(modelOf);
    const outputType = z.object({ city: z.string(), days: z.int().min(2) });
    const agent = new Agent({ name: 'Forecaster', model, outputType });
    const result = await runner.run(agent, prompt);
    expect(result.finalOutput).toEqual({ city: 'sample', days: 2 });
    expect(await paid()).toBe(1);
  });
});
