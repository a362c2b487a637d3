import Anthropic from '@anthropic-ai/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { payingFetch } from '../../harness/buyer.ts';
import {
  type ReceiptBody,
  resetHubsBeforeEach,
  type Service,
  sharedService,
} from '../../harness/doors/open-service.ts';
import { recordFetch } from '../../harness/openai/record-fetch.ts';

/* The official client as anybody installs it, with nothing changed but its `fetch`, which pays. */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
resetHubsBeforeEach(() => service);

const settings = () => ({ baseURL: service.url, apiKey: 'none', maxRetries: 0 });

async function buyer(version: 1 | 2 = 2) {
  const payer = await service.chain.newWallet();
  const { fetch: watching, answers, payments } = recordFetch();
  const fetch = payingFetch(payer, version, watching);
  const client = (more: object = {}) => new Anthropic({ ...settings(), fetch, ...more });
  return {
    payer,
    answers,
    payments,
    client,
    anthropic: client(),
    paid: async () => (await service.transfersFrom(payer)).length,
  };
}

const messageParams = (content: string): Anthropic.MessageCreateParamsNonStreaming => ({
  model: 'svc/auto',
  max_tokens: 512,
  messages: [{ role: 'user', content }],
});
const tools: Anthropic.Tool[] = [
  {
    name: 'weather',
    input_schema: { type: 'object', properties: { cityName: { type: 'string' } }, required: ['cityName'] },
  },
];
const svcOf = (message: unknown) => (message as { readonly svc: ReceiptBody }).svc;
const text = ({ content }: Anthropic.Message) =>
  content.map(block => (block.type === 'text' ? block.text : '')).join('');

describe('the official Anthropic client, through a paying fetch', () => {
  it.each([1, 2] as const)('messages.create, by x402 v%s', async version => {
    const { anthropic, paid } = await buyer(version);
    const message = await anthropic.messages.create({ ...messageParams('Who are you?'), system: 'Be short.' });
    expect(text(message)).toContain('Who are you?');
    expect(message).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn' });
    expect(message.usage.output_tokens).toBeGreaterThan(0);
    expect((await service.get(`/receipt/${svcOf(message).task_id}`)).status).toBe(200);
    expect(await paid()).toBe(1);
  });

  it('messages.create with stream: event by event, the receipt in one of them', async () => {
    const { anthropic, paid } = await buyer();
    const events: Anthropic.RawMessageStreamEvent[] = [];
    for await (const event of await anthropic.messages.create({ ...messageParams('Who are you?'), stream: true }))
      events.push(event);
    const deltas = events.flatMap(event => (event.type === 'content_block_delta' ? [event.delta] : []));
    expect(deltas.map(delta => (delta.type === 'text_delta' ? delta.text : '')).join('')).toContain('Who are you?');
    expect(events.at(-1)?.type).toBe('message_stop');
    expect((await service.get(`/receipt/${svcOf(events.at(-2)).task_id}`)).status).toBe(200);
    expect(await paid()).toBe(1);
  });

  it('messages.stream: the message as its helper puts it together', async () => {
    const { anthropic } = await buyer();
    const stream = anthropic.messages.stream(messageParams('Who are you?'));
    let said = '';
    stream.on('text', piece => {
      said += piece;
    });
    const message = await stream.finalMessage();
    expect(text(message)).toBe(said);
    expect(said).toContain('Who are you?');
    expect(message).toMatchObject({ stop_reason: 'end_turn', usage: { input_tokens: 3, output_tokens: 16 } });
  });

  it('calls of tools, whole and streamed, and what came of them', async () => {
    const { anthropic } = await buyer();
    const params = { ...messageParams('Weather?'), tools, tool_choice: { type: 'any' } } as const;
    const whole = await anthropic.messages.create(params);
    const streamed = await anthropic.messages.stream({ ...params, messages: [...params.messages] }).finalMessage();
    for (const message of [whole, streamed]) {
      expect(message.stop_reason).toBe('tool_use');
      expect(message.content).toMatchObject([{ type: 'tool_use', name: 'weather', input: { cityName: 'sample' } }]);
    }
    const [call] = whole.content;
    if (call?.type !== 'tool_use') throw new Error('nothing was called');
    const answered = await anthropic.messages.create({
      ...messageParams('Weather?'),
      tools,
      messages: [
        ...messageParams('Weather?').messages,
        { role: 'assistant', content: whole.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'Rain.' }] },
      ],
    });
    expect(text(answered)).toContain('A tool said: "Rain."');
  });

  it('messages.parse: what the schema asked for', async () => {
    const { anthropic } = await buyer();
    const schema = { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] };
    const message = await anthropic.messages.parse({
      ...messageParams('Say it.'),
      output_config: { format: { type: 'json_schema', schema } },
    });
    expect(JSON.parse(text(message))).toEqual({ answer: 'sample' });
  });

  it('beta.messages.create, with betas that change nothing here', async () => {
    const { anthropic } = await buyer();
    const message = await anthropic.beta.messages.create({
      ...messageParams('Who?'),
      betas: ['interleaved-thinking-2025-05-14'],
    });
    expect(message.stop_reason).toBe('end_turn');
  });

  it('messages.countTokens, without paying', async () => {
    const anthropic = new Anthropic(settings());
    const { messages, model } = messageParams('How many?');
    expect(await anthropic.messages.countTokens({ messages, model })).toMatchObject({
      input_tokens: 7,
      estimate: true,
    });
  });

  it.each<[string, Partial<Anthropic.MessageCreateParamsNonStreaming>, string]>([
    ['an unknown model', { model: 'nobody-1' }, 'model'],
    ['a tool that a hub would run', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools.0.type'],
  ])('a refusal of %s is a BadRequestError that names the member; nothing is charged', async (_, members, param) => {
    const { anthropic, paid } = await buyer();
    const fault = await anthropic.messages
      .create({ ...messageParams('Hello'), ...members })
      .catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(Anthropic.BadRequestError);
    expect(fault).toMatchObject({ status: 400, type: 'invalid_request_error', error: { error: { param } } });
    expect(await paid()).toBe(0);
  });

  it('without a fetch that pays: a PaymentRequiredError 402', async () => {
    const call = new Anthropic(settings()).messages.create(messageParams('Hello'));
    await expect(call).rejects.toBeInstanceOf(Anthropic.PaymentRequiredError);
    await expect(call).rejects.toMatchObject({ status: 402 });
  });

  it("a hub's verdict on the request: thrown at once, with its sentence, and not retried", async () => {
    const message = 'This model reads 8192 tokens at the most.';
    const error = { message, type: 'invalid_request_error', code: 'context_length_exceeded', param: 'messages' };
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 400, body: { error } });
    const { client, answers, paid } = await buyer();
    const call = client({ maxRetries: 2 }).messages.create(messageParams('Too long'));
    await expect(call).rejects.toBeInstanceOf(Anthropic.BadRequestError);
    await expect(call).rejects.toMatchObject({ apiMessage: message });
    expect(answers).toHaveLength(1);
    expect(await paid()).toBe(0);
  });

  it('hubs that are crowded: retried as its makers intend, and then answered', async () => {
    let refusals = 0;
    for (const hub of service.hubs)
      hub.behave(() => (refusals++ < 2 ? { kind: 'status', status: 503, body: {} } : { kind: 'answer' }));
    const { client, paid } = await buyer();
    const message = await client({ maxRetries: 2 }).messages.create(messageParams('Crowded'));
    expect(message.stop_reason).toBe('end_turn');
    expect(await paid()).toBe(1);
  });

  it.each([true, false])('a hub that breaks off in the midst: the stream throws (helper: %s)', async helper => {
    for (const hub of service.hubs) hub.behave({ kind: 'answer', in_stream: { after_words: 2, does: 'close' } });
    const { anthropic } = await buyer();
    const read = async () => {
      if (helper) return anthropic.messages.stream(messageParams('Break off')).finalMessage();
      for await (const _ of await anthropic.messages.create({ ...messageParams('Break off'), stream: true }));
    };
    const fault = await read().catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(Anthropic.APIError);
    expect(fault).toMatchObject({ type: 'api_error', apiMessage: expect.stringContaining('ended its answer') });
  });
});
