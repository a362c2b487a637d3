import type { ServerResponse } from 'node:http';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { MessageAnswer } from '../../rest-compat/inference/message-answers.ts';
import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';
import { payingFetch } from '../harness/buyer.ts';
import { CHAT, openService, type ReceiptBody, type Service } from '../harness/doors/open-service.ts';
import { testPaidDoor } from '../harness/doors/paid-door.ts';
import { answerWith, type HubServer, openHubServer } from '../harness/receipt/inference/hub-server.ts';
import { atEnd } from '../harness/release.ts';

const MESSAGES = '/v1/messages';
const COUNT = '/v1/messages/count_tokens';
type Answer = Omit<z.infer<typeof MessageAnswer>, 'svc'> & { readonly svc: ReceiptBody };

const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
const replying = (message: JsonObject, finish_reason = 'stop') =>
  answerWith({ choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }], usage });
const good = replying({ content: 'Hello.' });

let service: Service;
let hub: HubServer;
let reply: (response: ServerResponse) => void = good;
beforeAll(async () => {
  hub = await openHubServer(response => reply(response));
  atEnd(() => hub[Symbol.asyncDispose]());
  const { base_url } = hub;
  const models = ['one-model', 'one-eye'];
  service = await openService({
    HUBS: JSON.stringify([
      {
        name: 'one',
        base_url,
        api_key: 'key-of-the-hub',
        models,
        vision_models: ['one-eye'],
        file_input_models: ['one-eye'],
        reasoning_models: models,
      },
    ]),
  });
});
beforeEach(() => {
  reply = good;
});

const hi = { role: 'user', content: 'Hi' };
const asking = (members: JsonObject = {}): JsonObject => ({
  model: 'one-model',
  max_tokens: 64,
  messages: [hi],
  ...members,
});
async function bought(members: JsonObject = {}, headers: Record<string, string> = {}) {
  const payer = await service.chain.newWallet();
  const heard = await service.knock<Answer>('POST', MESSAGES, {
    body: asking(members),
    headers,
    by: payingFetch(payer),
  });
  return { ...heard, payer };
}
/** Body of the last request that the hub received. */
const heardByHub = () => hub.received.at(-1)?.body as JsonObject;
const png = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } as const;
const PNG_URL = 'data:image/png;base64,iVBORw0KGgo=';
const tool = { name: 'look_up', description: 'Looks it up.', input_schema: { type: 'object', properties: { q: {} } } };

describe(`POST ${MESSAGES} 200`, () => {
  it("on a text: the answer in Anthropic's form, its content committed to by the receipt, one transfer", async () => {
    const { status, body, headers, payer } = await bought();
    expect(status).toBe(200);
    const { task_id } = body.svc;
    expect(body).toMatchObject({
      id: `msg_${task_id}`,
      type: 'message',
      role: 'assistant',
      model: 'one-model',
      content: [{ type: 'text', text: 'Hello.', citations: null }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 3, output_tokens: 1, cache_read_input_tokens: null, output_tokens_details: null },
      svc: { hub: 'one', proof_outcome: 'settled', payer_wallet: payer.address },
    });
    expect(body.svc).toMatchObject({
      payload: { fulfillment: { output_commitment: { hash: canonicalHash(body.content as never) } } },
    });
    expect(MessageAnswer.parse(body)).toEqual(body);
    expect(headers.get('x-svc-task-id')).toBe(task_id);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('with the calls of tools, whose arguments are objects', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"q": 1}' } };
    reply = replying({ content: 'Let me see.', tool_calls: [call] }, 'tool_calls');
    const { body } = await bought({ tools: [tool] });
    const block = { type: 'tool_use', id: 'call_1', name: 'look_up', input: { q: 1 }, caller: { type: 'direct' } };
    expect(body).toMatchObject({ stop_reason: 'tool_use', content: [{ type: 'text', text: 'Let me see.' }, block] });
    expect(heardByHub().tools).toEqual([
      { type: 'function', function: { name: 'look_up', description: tool.description, parameters: tool.input_schema } },
    ]);
  });

  it.each([
    ['', {}],
    ['[1]', '[1]'],
    ['{"q":', '{"q":'],
    ['{"q":1e999}', '{"q":1e999}'],
    ['{"q":"\\ud800"}', '{"q":"\\ud800"}'],
    [`${'['.repeat(99)}${']'.repeat(99)}`, `${'['.repeat(99)}${']'.repeat(99)}`],
  ])('with arguments of a call %j as %j: nothing that a model wrote is lost', async (given, input) => {
    reply = replying({ content: null, tool_calls: [{ id: 'c', function: { name: 'f', arguments: given } }] }, 'stop');
    const { body } = await bought({ tools: [tool] });
    expect(body).toMatchObject({ stop_reason: 'tool_use', content: [{ type: 'tool_use', input }] });
    expect(body.svc).toMatchObject({
      payload: { fulfillment: { output_commitment: { hash: canonicalHash(body.content as never) } } },
    });
  });

  it.each<[string, JsonObject, string, object]>([
    [
      'length, with something said',
      { content: 'So' },
      'length',
      { stop_reason: 'max_tokens', content: [{ text: 'So' }] },
    ],
    ['length, and nothing is said', { content: null }, 'length', { stop_reason: 'max_tokens', content: [] }],
    ['content_filter', { content: null }, 'content_filter', { stop_reason: 'refusal', content: [] }],
    ['a refusal', { content: null, refusal: 'No.' }, 'stop', { stop_reason: 'refusal', content: [{ text: 'No.' }] }],
  ])('where the hub ends with %s: delivered and charged', async (_, message, finish_reason, answer) => {
    reply = replying(message, finish_reason);
    const { body, payer } = await bought();
    expect(body).toMatchObject(answer);
    expect(body.stop_details?.type).toBe(body.stop_reason === 'refusal' ? 'refusal' : undefined);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it.each<[JsonObject | null, string[]]>([
    [{ type: 'adaptive' }, ['thinking', 'text']],
    [{ type: 'enabled', budget_tokens: 1024 }, ['thinking', 'text']],
    [{ type: 'adaptive', display: 'omitted' }, ['text']],
    [{ type: 'disabled' }, ['text']],
    [null, ['text']],
  ])('with what was thought, where thinking is %j: %j', async (thinking, types) => {
    const reasoning_details = [{ type: 'reasoning.text', text: 'Hm.', signature: 'c2ln' }];
    reply = replying({ content: 'Hello.', reasoning: 'Hm.', reasoning_details });
    const { body } = await bought({ thinking });
    expect(body.content.map(({ type }) => type)).toEqual(types);
    const thought = body.content.find(({ type }) => type === 'thinking');
    if (thought) expect(thought).toEqual({ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' });
    expect(body.svc).toMatchObject({
      payload: {
        fulfillment: { output_commitment: { hash: canonicalHash(body.content as never), covers: ['content'] } },
      },
    });
  });

  it('with what of its tokens came from a cache, and was thought', async () => {
    const details = { prompt_tokens_details: { cached_tokens: 2 }, completion_tokens_details: { reasoning_tokens: 1 } };
    reply = answerWith({ choices: [{ message: { content: 'Hello.' } }], usage: { ...usage, ...details } });
    expect((await bought()).body.usage).toEqual({
      input_tokens: 1,
      output_tokens: 1,
      cache_read_input_tokens: 2,
      cache_creation_input_tokens: null,
      output_tokens_details: { thinking_tokens: 1 },
    });
  });

  it('without usage: 0 where the hub does not count', async () => {
    reply = answerWith({ choices: [{ message: { content: 'Hello.' } }] });
    expect((await bought()).body.usage).toMatchObject({ input_tokens: 0, output_tokens: 0 });
  });
});

describe(`what a hub hears of POST ${MESSAGES}`, () => {
  it('every kind of block, as the chat that it comes to', async () => {
    const marked = { cache_control: { type: 'ephemeral', ttl: '1h' } };
    const text = (said: string) => ({ type: 'text', text: said, ...marked });
    const { status } = await bought({
      model: 'one-eye',
      system: [text('Be short.'), text('Be kind.')],
      messages: [
        {
          role: 'user',
          content: [
            text('One.'),
            { type: 'document', title: 'A', source: { type: 'text', media_type: 'text/plain', data: 'Two.' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
            { type: 'redacted_thinking', data: 'eA==' },
            { type: 'text', text: 'Let me see.', citations: null },
            { type: 'tool_use', id: 'tu_1', name: 'look_up', input: { q: 1 }, caller: { type: 'direct' } },
            { type: 'tool_use', id: 'tu_2', name: 'look_up', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'tu_1', content: [text('Found.'), { type: 'image', source: png }] },
            { type: 'tool_result', tool_use_id: 'tu_2', content: 'Gone.', is_error: true, ...marked },
            { type: 'search_result', title: 'T', source: 'https://a.example/', content: [text('Three.')] },
            { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } },
          ],
        },
        { role: 'system', content: 'Now in French.' },
        { role: 'assistant', content: [] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'tu_2' }] },
      ],
      tools: [{ ...tool, ...marked, type: 'custom', strict: true, eager_input_streaming: true }],
      tool_choice: { type: 'tool', name: 'look_up', disable_parallel_tool_use: true },
      stop_sequences: ['END'],
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      metadata: { user_id: 'somebody' },
      service_tier: 'auto',
      cache_control: { type: 'ephemeral' },
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    });
    expect(status).toBe(200);
    const called = (id: string, given: string) => ({
      id,
      type: 'function',
      function: { name: 'look_up', arguments: given },
    });
    expect(heardByHub()).toEqual({
      model: 'one-eye',
      max_completion_tokens: 64,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      stop: ['END'],
      messages: [
        { role: 'system', content: 'Be short.\n\nBe kind.' },
        { role: 'user', content: 'One.\n\nA\n\nTwo.' },
        {
          role: 'assistant',
          content: 'Let me see.',
          reasoning_details: [
            { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln' },
            { type: 'reasoning.encrypted', data: 'eA==' },
          ],
          tool_calls: [called('tu_1', '{"q":1}'), called('tu_2', '{}')],
        },
        { role: 'tool', tool_call_id: 'tu_1', content: 'Found.' },
        { role: 'tool', tool_call_id: 'tu_2', content: 'Error: Gone.' },
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: PNG_URL } },
            { type: 'text', text: 'T\nhttps://a.example/\nThree.' },
            { type: 'image_url', image_url: { url: 'https://a.example/b.png' } },
          ],
        },
        { role: 'system', content: 'Now in French.' },
        { role: 'assistant', content: '' },
        { role: 'tool', tool_call_id: 'tu_2', content: '' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'look_up', description: tool.description, parameters: tool.input_schema, strict: true },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'look_up' } },
      parallel_tool_calls: false,
    });
    // The hub gets nothing that identifies the caller, and no header of the caller's.
    expect(JSON.stringify(heardByHub())).not.toContain('somebody');
  });

  it('a PDF as a file, where the model takes files', async () => {
    const source = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };
    const content: JsonObject[] = [
      { type: 'document', title: 'a.pdf', source },
      { type: 'text', text: 'Sum it up.' },
    ];
    expect((await bought({ model: 'one-eye', messages: [{ role: 'user', content }] })).status).toBe(200);
    expect(heardByHub().messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a.pdf' },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
          { type: 'text', text: 'Sum it up.' },
        ],
      },
    ]);
  });

  it.each<[JsonObject, string | undefined]>([
    [{ thinking: { type: 'enabled', budget_tokens: 1024 } }, 'low'],
    [{ thinking: { type: 'enabled', budget_tokens: 4096 } }, 'low'],
    [{ thinking: { type: 'enabled', budget_tokens: 4097 } }, 'medium'],
    [{ thinking: { type: 'enabled', budget_tokens: 31_999 } }, 'high'],
    [{ thinking: { type: 'adaptive' } }, undefined],
    [{ thinking: { type: 'adaptive', budget_tokens: 0 }, output_config: { effort: 'xhigh' } }, 'xhigh'],
    [{ thinking: { type: 'disabled' } }, undefined],
    [{}, undefined],
  ])('%j as the effort %s', async (members, effort) => {
    await bought(members);
    expect(heardByHub().reasoning_effort).toBe(effort);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['any', { tool_choice: { type: 'any' } }, { tool_choice: 'required' }],
    ['none', { tool_choice: { type: 'none' } }, { tool_choice: 'none' }],
    ['auto', { tool_choice: { type: 'auto' } }, {}],
    [
      'auto, one by one',
      { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      { parallel_tool_calls: false },
    ],
  ])('tool_choice %s', async (_, members, heard) => {
    await bought({ tools: [tool], ...members });
    const { tool_choice, parallel_tool_calls } = heardByHub();
    expect(JSON.parse(JSON.stringify({ tool_choice, parallel_tool_calls }))).toEqual(heard);
  });

  it.each(['output_config', 'output_format'])('a schema for the answer by %s', async name => {
    const format = { type: 'json_schema', schema: { type: 'object' } };
    await bought({ [name]: name === 'output_config' ? { format } : format });
    expect(heardByHub().response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
    });
  });

  it('the key of the service alone, whatever the caller shows by x-api-key', async () => {
    await bought({}, { 'x-api-key': 'sk-ant-of-the-caller' });
    const { headers } = hub.received.at(-1) ?? {};
    expect(headers?.authorization).toBe('Bearer key-of-the-hub');
    expect(JSON.stringify(headers)).not.toContain('sk-ant-of-the-caller');
    expect(service.gateway.logs.join('')).not.toContain('sk-ant-of-the-caller');
  });
});

describe(`headers of POST ${MESSAGES}`, () => {
  it.each(['2023-06-01', '2026-10-21'])('anthropic-version %s is served', async version => {
    expect((await bought({}, { 'anthropic-version': version })).status).toBe(200);
  });

  it.each([
    ['anthropic-version', '2023-01-01', '2023-06-01'],
    ['anthropic-beta', 'prompt-caching-2024-07-31, mcp-client-2025-11-20', 'mcp-client-2025-11-20'],
    ['anthropic-beta', 'no-such-beta', 'no-such-beta'],
    ['anthropic-beta', 'constructor-2025-01-01', 'constructor-2025-01-01'],
  ])('%s: %s is 400 and says what is wrong', async (name, value, said) => {
    const { status, body, payer } = await bought({}, { [name]: value });
    expect(status).toBe(400);
    expect(body).toMatchObject({
      type: 'error',
      code: 'invalid_request',
      error: { type: 'invalid_request_error', param: name, message: expect.stringContaining(said) },
    });
    expect(await service.transfersFrom(payer)).toEqual([]);
  });

  it('betas that change nothing here are served, also with ?beta=true', async () => {
    const betas = 'claude-code-20250219,interleaved-thinking-2025-05-14,fine-grained-tool-streaming-2025-05-14';
    const heard = await service.knock('POST', `${MESSAGES}?beta=true`, {
      body: asking(),
      headers: { 'anthropic-beta': betas },
      by: payingFetch(await service.chain.newWallet()),
    });
    expect(heard.status).toBe(200);
    expect(hub.received.at(-1)?.headers).not.toHaveProperty('anthropic-beta');
  });
});

describe(`an error of POST ${MESSAGES} has Anthropic's form, and says what became of the payment`, () => {
  it("402 as x402 has it, and as an error of Anthropic's", async () => {
    const heard = await service.post(MESSAGES, asking());
    expect(heard).toMatchObject({
      status: 402,
      body: {
        x402Version: 1,
        accepts: expect.arrayContaining([expect.objectContaining({ scheme: 'exact' })]),
        type: 'error',
        error: expect.any(String),
      },
    });
    expect((heard.body as JsonObject).message).toBe((heard.body as JsonObject).error);
  });

  it.each([
    [400, 'hub_rejected_request', 'invalid_request_error', 400],
    [413, 'hub_request_too_large', 'request_too_large', 413],
    [429, 'hub_rate_limited', 'rate_limit_error', 429],
    [503, 'hub_overloaded', 'overloaded_error', 503],
    [500, 'hub_failed', 'api_error', 502],
  ])("a hub's %s: %s, %s", async (of_hub, code, type, status) => {
    const error = { message: 'Too long.', type: 'invalid_request_error', code: 'context_length_exceeded', param: null };
    reply = response =>
      void response.writeHead(of_hub, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
    const { body, headers, payer, ...heard } = await bought();
    expect(heard.status).toBe(status);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(body).toMatchObject({ type: 'error', code, charged: false, error: { type, message: expect.any(String) } });
    expect(headers.get('x-should-retry')).toBe(status === 400 || status === 413 ? 'false' : null);
    expect(await service.transfersFrom(payer)).toEqual([]);
  });
});

describe(`POST ${COUNT}`, () => {
  const count = (members: JsonObject = {}, headers: Record<string, string> = {}) =>
    service.post<{ input_tokens: number }>(COUNT, { model: 'one-model', messages: [hi], ...members }, headers);

  it('is free, and an estimate that says so', async () => {
    const { status, body, headers } = await count();
    expect([status, body]).toEqual([200, { input_tokens: 5, estimate: true }]);
    expect(headers.get('ratelimit')).not.toBeNull();
  });

  it('counts what is said, shown and offered', async () => {
    const { body: less } = await count();
    const more = async (members: JsonObject) => (await count(members)).body.input_tokens - less.input_tokens;
    expect(await more({ system: 'x'.repeat(400) })).toBe(104);
    expect(
      await more({
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Hi' },
              { type: 'image', source: png },
            ],
          },
        ],
      }),
    ).toBe(1_600);
    expect(await more({ tools: [tool] })).toBeGreaterThan(346);
    expect(
      await more({
        messages: [hi, { role: 'assistant', content: [{ type: 'thinking', thinking: 'x'.repeat(99), signature: '' }] }],
      }),
    ).toBe(4);
  });

  it.each([
    ['messages', { messages: [] }],
    ['max_tokens', { max_tokens: 7 }],
    ['tools.0.type', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
  ])("400 on a bad %s, in Anthropic's form", async (param, members) => {
    expect(await count(members)).toMatchObject({
      status: 400,
      body: { type: 'error', error: { type: 'invalid_request_error', param } },
    });
  });

  it('400 on a beta that is not served', async () => {
    expect(await count({}, { 'anthropic-beta': 'files-api-2025-04-14' })).toMatchObject({
      status: 400,
      body: { error: { param: 'anthropic-beta' } },
    });
  });
});

it(`POST ${MESSAGES} 409 by a payment that has bought a chat`, async () => {
  const payment = await service.payment(await service.chain.newWallet(), CHAT);
  await service.post(CHAT, { messages: [hi] }, payment);
  const heard = await service.post(MESSAGES, asking(), payment);
  expect(heard).toMatchObject({
    status: 409,
    body: { type: 'error', code: 'claim_already_settled', error: { type: 'conflict_error' } },
  });
});

it(`POST ${MESSAGES}: a text and one block of it are the same request`, async () => {
  const payment = await service.payment(await service.chain.newWallet(), MESSAGES);
  const first = await service.post<Answer>(MESSAGES, asking({ system: 'Be short.' }), payment);
  const block = (text: string) => [{ type: 'text', text }];
  const messages = [{ role: 'user', content: block('Hi') }];
  const again = await service.post<Answer>(MESSAGES, asking({ system: block('Be short.'), messages }), payment);
  expect(again.body.svc.task_id).toBe(first.body.svc.task_id);
});

const image = (source: JsonObject) => ({ messages: [{ role: 'user', content: [{ type: 'image', source }] }] });
const blockOf = (block: JsonObject, role = 'user') => ({ messages: [{ role, content: [block] }] });
testPaidDoor(() => service, {
  path: MESSAGES,
  job_kind: 'completions',
  body: (_, name) => asking({ messages: [{ role: 'user', content: name }] }),
  wrong: [
    ['max_tokens', { max_tokens: 0 }],
    ['messages', { messages: [] }],
    ['messages.0.role', { messages: [{ role: 'tool', content: 'x' }] }],
    ['messages.0.content', { messages: [{ role: 'user', content: 7 }] }],
    ['messages.0.content.0.type', blockOf({ type: 'container_upload', file_id: 'f' })],
    [
      'messages.0.content.0.type',
      blockOf({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, 'assistant'),
    ],
    ['messages.0.content.0.source.type', image({ type: 'file', file_id: 'f' })],
    ['messages.0.content.0.source.data', image({ ...png, data: '?' })],
    ['messages.0.content.0', image(png)],
    [
      'messages.0.content.0.content.0',
      blockOf({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source: png }] }),
    ],
    [
      'messages.0.content.0',
      blockOf({ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } }),
    ],
    [
      'messages.0.content.0.source.type',
      blockOf({ type: 'document', source: { type: 'url', url: 'https://a.example/a.pdf' } }),
    ],
    ['model', { model: 'nobody-1' }],
    ['temperature', { temperature: 2.5 }],
    ['top_k', { top_k: -1 }],
    ['stop_sequences', { stop_sequences: ['a', 'b', 'c', 'd', 'e'] }],
    ['stream', { stream: 'yes' }],
    ['tools.0.type', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['tools.0.type', { tools: [{ type: 'bash_20250124', name: 'bash' }] }],
    ['tools.0.input_schema', { tools: [{ name: 'f' }] }],
    ['tool_choice', { tool_choice: { type: 'any' } }],
    ['tool_choice', { tools: [tool], tool_choice: { type: 'tool', name: 'f' } }],
    ['thinking.type', { thinking: { type: 'between_tools' } }],
    ['thinking.budget_tokens', { thinking: { type: 'enabled' } }],
    ['mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://a.example/' }] }],
    ['container', { container: 'c' }],
    ['context_management.edits.0.type', { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } }],
    ['output_config.task_budget', { output_config: { task_budget: { type: 'tokens', total: 9 } } }],
    ['fallbacks', { fallbacks: [{ model: 'x' }] }],
    ['provider', { provider: { order: ['a'] } }],
    ['messages.0.content.0.api_key', blockOf({ type: 'text', text: 'x', api_key: 'sk-other' })],
  ],
});
