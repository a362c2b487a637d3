import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { payingFetch } from '../../harness/buyer.ts';
import { type Service, sharedService } from '../../harness/doors/open-service.ts';
import { reachesBeyond } from '../../harness/outbound-names.ts';

/* The official client as anybody installs it, with nothing changed but its `fetch`, which pays. */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
const reached = reachesBeyond();
afterAll(() => expect(reached()).toEqual([]));

async function buyer() {
  const payer = await service.chain.newWallet();
  const openai = new OpenAI({
    baseURL: `${service.url}/v1`,
    apiKey: 'none',
    maxRetries: 0,
    fetch: payingFetch(payer),
  });
  return { openai, paid: async () => (await service.transfersFrom(payer)).length };
}

const model = 'svc/auto';
const messages = [{ role: 'user' as const, content: 'The weather in Vienna?' }];
const schema = z.object({ city: z.string(), days: z.int().min(2) });
const parameters = z.toJSONSchema(schema);
const tools = [{ type: 'function' as const, function: { name: 'weather', parameters, strict: true } }];
const given = { city: 'sample', days: 2 };

describe('the official openai client, chat with tools', () => {
  it('create: the call, and the answer to what came of it', async () => {
    const { openai, paid } = await buyer();
    const { choices } = await openai.chat.completions.create({ model, messages, tools });
    const message = choices[0]?.message;
    const [call] = message?.tool_calls ?? [];
    if (!message || call?.type !== 'function') throw new Error('nothing was called');
    expect([choices[0]?.finish_reason, message.content]).toEqual(['tool_calls', null]);
    expect(JSON.parse(call.function.arguments)).toEqual(given);
    const result = { role: 'tool' as const, tool_call_id: call.id, content: '21 °C' };
    const said = await openai.chat.completions.create({ model, messages: [...messages, message, result], tools });
    expect(said.choices[0]?.message.content).toContain('A tool said: "21 °C"');
    expect(await paid()).toBe(2);
  });

  it('stream: the message as its helper puts it together', async () => {
    const { openai, paid } = await buyer();
    const stream = openai.chat.completions.stream({ model, messages, tools });
    const { choices } = await stream.finalChatCompletion();
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls' });
    const [call] = choices[0]?.message.tool_calls ?? [];
    expect(call).toMatchObject({ function: { name: 'weather', parsed_arguments: given } });
    expect(await paid()).toBe(1);
  });

  it('runTools: to its end by itself', async () => {
    const { openai, paid } = await buyer();
    const runner = openai.chat.completions.runTools({
      model,
      messages,
      tools: [
        {
          type: 'function',
          function: {
            name: 'weather',
            description: 'By city',
            parameters: parameters as never,
            parse: (text: string) => schema.parse(JSON.parse(text)),
            function: ({ city, days }: z.output<typeof schema>) => `${city}: ${days} dry days`,
          },
        },
      ],
    });
    expect(await runner.finalContent()).toContain('A tool said: "sample: 2 dry days"');
    expect(await paid()).toBe(2);
  });

  it('parse: an object by its schema', async () => {
    const { openai, paid } = await buyer();
    const response_format = zodResponseFormat(schema, 'weather');
    const { choices } = await openai.chat.completions.parse({ model, messages, response_format });
    expect(choices[0]?.message.parsed).toEqual(given);
    expect(await paid()).toBe(1);
  });
});

describe('the official openai client, responses', () => {
  const flat = [{ type: 'function' as const, name: 'weather', parameters, strict: true }];
  const asked = { model, instructions: 'Be short.', input: 'The weather in Vienna?' };

  it('create with tools: the call, and the answer to what came of it', async () => {
    const { openai, paid } = await buyer();
    const called = await openai.responses.create({ ...asked, tools: flat });
    const [call] = called.output;
    if (call?.type !== 'function_call') throw new Error('nothing was called');
    expect(JSON.parse(call.arguments)).toEqual(given);
    const result = { type: 'function_call_output' as const, call_id: call.call_id, output: '21 °C' };
    const input = [{ role: 'user' as const, content: asked.input }, call, result];
    const said = await openai.responses.create({ ...asked, input, tools: flat, store: false });
    expect(said.output_text).toContain('A tool said: "21 °C"');
    expect(await paid()).toBe(2);
  });

  it('create with stream: event by event', async () => {
    const { openai, paid } = await buyer();
    const pieces: string[] = [];
    const types: string[] = [];
    for await (const event of await openai.responses.create({ ...asked, stream: true })) {
      types.push(event.type);
      if (event.type === 'response.output_text.delta') pieces.push(event.delta);
    }
    expect(pieces.join('')).toContain(asked.input);
    expect([types[0], types.at(-1)]).toEqual(['response.created', 'response.completed']);
    expect(await paid()).toBe(1);
  });

  it('stream with tools: the response as its helper puts it together', async () => {
    const { openai, paid } = await buyer();
    const stream = openai.responses.stream({ ...asked, tools: flat });
    const { output, status } = await stream.finalResponse();
    expect(status).toBe('completed');
    expect(output).toMatchObject([{ type: 'function_call', name: 'weather', parsed_arguments: given }]);
    expect(await paid()).toBe(1);
  });

  it('parse: an object by its schema', async () => {
    const { openai, paid } = await buyer();
    const response = await openai.responses.parse({ ...asked, text: { format: zodTextFormat(schema, 'weather') } });
    expect(response.output_parsed).toEqual(given);
    expect(await paid()).toBe(1);
  });
});
