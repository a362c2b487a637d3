import type { ServerResponse } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { canonicalHash, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { payingFetch } from '../harness/buyer.ts';
import { CHAT, openService, type ReceiptBody, type Service } from '../harness/doors/open-service.ts';
import { answerWith, type HubServer, openHubServer } from '../harness/receipt/inference/hub-server.ts';
import { atEnd } from '../harness/release.ts';

/*
 * A hub with Anthropic's dialect. Its answers are those of the public reference: https://platform.claude.com/docs/en/api/messages and
 * https://platform.claude.com/docs/en/build-with-claude/streaming.
 */

const MESSAGES = '/v1/messages';
const usage = { input_tokens: 25, cache_creation_input_tokens: 0, cache_read_input_tokens: 100, output_tokens: 15 };
const head = { id: 'msg_1nZ', type: 'message', role: 'assistant', model: 'claude-one-20251001' };
const thinking = { type: 'thinking', thinking: 'The weather is wanted.', signature: 'RXZqM0Jn' };
const call = { type: 'tool_use', id: 'toolu_01', name: 'get_weather', input: { location: 'Paris' } };
const said = { type: 'text', text: 'Let me check the weather.' };
const whole = (members: JsonObject = {}) =>
  answerWith({
    ...head,
    content: [thinking, said, call],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage,
    ...members,
  });

const start = {
  type: 'message_start',
  message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } },
};
const delta = (index: number, given: JsonObject) => ({ type: 'content_block_delta', index, delta: given });
const stop = (index: number) => ({ type: 'content_block_stop', index });
const begins = (index: number, content_block: JsonObject) => ({ type: 'content_block_start', index, content_block });
const parts: readonly JsonObject[] = [
  start,
  begins(0, { type: 'thinking', thinking: '', signature: '' }),
  { type: 'ping' },
  delta(0, { type: 'thinking_delta', thinking: 'The weather ' }),
  delta(0, { type: 'thinking_delta', thinking: 'is wanted.' }),
  delta(0, { type: 'signature_delta', signature: 'RXZqM0Jn' }),
  stop(0),
  begins(1, { type: 'text', text: '' }),
  delta(1, { type: 'text_delta', text: 'Let me check ' }),
  delta(1, { type: 'text_delta', text: 'the weather.' }),
  stop(1),
  begins(2, { type: 'tool_use', id: 'toolu_01', name: 'get_weather', input: {} }),
  delta(2, { type: 'input_json_delta', partial_json: '' }),
  delta(2, { type: 'input_json_delta', partial_json: '{"location":' }),
  delta(2, { type: 'input_json_delta', partial_json: ' "Paris"}' }),
  stop(2),
  { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 15 } },
  { type: 'message_stop' },
];
const streaming = (events: readonly JsonObject[]) => (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
};

let service: Service;
let hub: HubServer;
let reply: (response: ServerResponse) => void = whole();
beforeAll(async () => {
  hub = await openHubServer(response => reply(response));
  atEnd(() => hub[Symbol.asyncDispose]());
  const models = ['claude-one', 'claude-eye'];
  const settings = { name: 'one', base_url: hub.base_url, api_key: 'key-of-the-hub', dialect: 'anthropic' };
  service = await openService({ HUBS: JSON.stringify([{ ...settings, models, vision_models: ['claude-eye'] }]) });
});
beforeEach(() => {
  reply = whole();
});

const tools = [
  {
    name: 'get_weather',
    input_schema: { type: 'object', properties: {} },
    cache_control: { type: 'ephemeral' },
    eager_input_streaming: true,
  },
];
const asked: JsonObject = {
  model: 'claude-one',
  max_tokens: 1024,
  system: [{ type: 'text', text: 'Be short.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Weather?', cache_control: { type: 'ephemeral' } }] }],
  tools,
  tool_choice: { type: 'any', disable_parallel_tool_use: true },
  thinking: { type: 'enabled', budget_tokens: 1_000 },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  stop_sequences: ['END'],
  top_k: 5,
};
const content = [thinking, { ...said, citations: null }, { ...call, caller: { type: 'direct' } }];
const answer = {
  content,
  stop_reason: 'tool_use',
  usage: { input_tokens: 25, output_tokens: 15, cache_read_input_tokens: 100, cache_creation_input_tokens: 0 },
};

async function bought(members: JsonObject = {}) {
  const payer = await service.chain.newWallet();
  const body = { ...asked, ...members };
  const heard = await service.knock<JsonObject & { svc: ReceiptBody }>('POST', MESSAGES, {
    body,
    by: payingFetch(payer),
  });
  return { ...heard, payer };
}
async function streamed(
  members: JsonObject = {},
  payment: Readonly<Record<string, string>> | null = null,
  events: JsonObject[] = [],
) {
  const payer = await service.chain.newWallet();
  const client = new Anthropic({
    baseURL: service.url,
    apiKey: 'sk-ant-of-the-caller',
    maxRetries: 0,
    fetch: payment ? fetch : payingFetch(payer),
    defaultHeaders: { 'anthropic-beta': 'effort-2025-11-24', ...payment },
  });
  const params = { ...asked, ...members } as unknown as Anthropic.MessageCreateParamsStreaming;
  const stream = client.messages.stream(params);
  stream.on('streamEvent', event => events.push(event as unknown as JsonObject));
  return {
    payer,
    events,
    message: await stream.finalMessage(),
    svc: () => events.find(event => 'svc' in event)?.svc as ReceiptBody,
  };
}
const commitment = ({ payload }: ReceiptBody) =>
  (payload as { fulfillment: { output_commitment: JsonObject } }).fulfillment.output_commitment;

/** Blocks of an answer in which thinking, text and calls alternate. */
const encrypted = { type: 'redacted_thinking', data: 'ZW5j' };
const again = { type: 'thinking', thinking: 'Paris, then.', signature: 'QUdBSU4' };
const unsigned = { type: 'thinking', thinking: 'And quickly.', signature: '' };
const more = { type: 'text', text: ' In Paris.' };
const turns: readonly JsonObject[] = [encrypted, thinking, said, again, unsigned, more, encrypted, call];
const pieces: Readonly<Record<string, (block: JsonObject) => readonly JsonObject[]>> = {
  redacted_thinking: block => [block],
  text: ({ text = '' }) => [
    { type: 'text', text: '' },
    { type: 'text_delta', text },
  ],
  thinking: ({ thinking: thought = '', signature = '' }) => [
    { type: 'thinking', thinking: '', signature: '' },
    ...(thought === '' ? [] : [{ type: 'thinking_delta', thinking: thought } as JsonObject]),
    ...(signature === '' ? [] : [{ type: 'signature_delta', signature } as JsonObject]),
  ],
  tool_use: ({ input = {}, ...begun }): JsonObject[] => [
    { ...begun, input: {} },
    { type: 'input_json_delta', partial_json: JSON.stringify(input) },
  ],
};
const inEvents = (blocks: readonly JsonObject[]) => [
  start,
  ...blocks.flatMap((block, at) => {
    const [begun = block, ...deltas] = pieces[String(block.type)]?.(block) ?? [];
    return [begins(at, begun), ...deltas.map(given => delta(at, given)), stop(at)];
  }),
  ...parts.slice(-2),
];
/** The blocks as the service sends them. */
const shownOf = (blocks: readonly JsonObject[]) =>
  blocks.map((block): JsonObject => {
    if (block.type === 'text') return { ...block, citations: null };
    return block.type === 'tool_use' ? { ...block, caller: { type: 'direct' } } : block;
  });
const isThought = ({ type }: JsonObject) => /thinking/.test(String(type));
const withoutText = (block: JsonObject) => (block.type === 'thinking' ? { ...block, thinking: '' } : block);

describe('thinking between texts and calls', () => {
  it.each<[string, JsonObject | null, readonly JsonObject[]]>([
    ['asked for: every block in its place, with its own signature', { type: 'adaptive' }, turns],
    [
      'with its text omitted: the same blocks with their signatures, but for what nobody has signed',
      { type: 'adaptive', display: 'omitted' },
      turns.filter(block => block !== unsigned).map(withoutText),
    ],
    ['not asked for: the other blocks', null, turns.filter(block => !isThought(block))],
  ])('%s, whole, streamed and replayed, and committed to', async (_, asked_for, blocks) => {
    const expected = shownOf(blocks);
    reply = whole({ content: turns });
    const { body } = await bought({ thinking: asked_for });
    expect(body.content).toEqual(expected);
    expect(commitment(body.svc)).toMatchObject({ status: 'committed', hash: canonicalHash(expected as Json) });
    reply = streaming(inEvents(turns));
    const payment = await service.payment(await service.chain.newWallet(), MESSAGES);
    const first = await streamed({ thinking: asked_for }, payment);
    expect(first.message.content).toEqual(expected);
    expect(commitment(first.svc())).toMatchObject({ status: 'committed', hash: canonicalHash(expected as Json) });
    const kinds = (events: readonly JsonObject[]) => events.map(({ type }) => type);
    const replayed = await streamed({ thinking: asked_for }, payment);
    expect(replayed.message.content).toEqual(expected);
    expect(kinds(replayed.events)).toEqual(kinds(first.events));
  });

  it.each(['summarized', 'omitted'])(
    'tells no key of ours, and streams what it keeps, with display %s',
    async display => {
      const key = 'key-of-the-hub';
      reply = streaming([
        start,
        begins(0, { type: 'redacted_thinking', data: `Zm9v${key}` }),
        stop(0),
        begins(1, { type: 'redacted_thinking', data: 5 }),
        stop(1),
        begins(2, { type: 'thinking', thinking: '', signature: '' }),
        delta(2, { type: 'thinking_delta', thinking: 'Hm.' }),
        delta(2, { type: 'signature_delta', signature: key.slice(0, 7) }),
        delta(2, { type: 'signature_delta', signature: key.slice(7) }),
        stop(2),
        begins(3, { type: 'thinking', thinking: '', signature: 'QUdB' }),
        delta(3, { type: 'signature_delta', signature: 'SU4' }),
        stop(3),
        begins(4, { type: 'text', text: '' }),
        delta(4, { type: 'text_delta', text: 'Hi' }),
        stop(4),
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
        { type: 'message_stop' },
      ]);
      const { message, svc } = await streamed({ thinking: { type: 'adaptive', display } });
      const kept: readonly JsonObject[] = [
        ...(display === 'omitted' ? [] : [{ type: 'thinking', thinking: 'Hm.', signature: '' }]),
        { type: 'thinking', thinking: '', signature: 'QUdBSU4' },
        { type: 'text', text: 'Hi', citations: null },
      ];
      expect(message.content).toEqual(kept);
      expect(commitment(svc())).toMatchObject({ hash: canonicalHash(kept as Json) });
    },
  );

  const [former, latter] = ['key-of-', 'the-hub'];
  it.each<[string, readonly JsonObject[]]>([
    [
      'behind the start of the next block',
      [
        begins(1, { type: 'text', text: 'Hi' }),
        delta(0, { type: 'signature_delta', signature: latter }),
        stop(0),
        stop(1),
      ],
    ],
    ['behind the end of its block', [stop(0), delta(0, { type: 'signature_delta', signature: latter }), stop(0)]],
    ['where its block begins again', [stop(0), begins(0, { ...unsigned, signature: latter }), stop(0)]],
    ['of no block', [stop(0), { ...delta(0, { type: 'signature_delta', signature: latter }), index: null }, stop(-1)]],
  ])('tells no key of ours in halves: a signature that goes on %s breaks the stream off', async (_, rest) => {
    reply = streaming([
      start,
      begins(0, { type: 'thinking', thinking: '', signature: former }),
      delta(0, { type: 'thinking_delta', thinking: 'Hm.' }),
      ...rest,
      ...parts.slice(-2),
    ]);
    const events: JsonObject[] = [];
    await expect(streamed({}, null, events)).rejects.toMatchObject({ type: 'api_error' });
    const signatures = events.flatMap(({ delta: given }) =>
      (given as JsonObject | undefined)?.type === 'signature_delta' ? [(given as JsonObject).signature] : [],
    );
    expect(signatures).toEqual([former]);
  });

  it.each<[string, JsonObject]>([
    ['shown', { type: 'adaptive' }],
    ['with its text omitted', { type: 'adaptive', display: 'omitted' }],
  ])('%s, of a hub that stops its blocks late: each in its place, as the receipt has it', async (_, asked_for) => {
    const events = inEvents([thinking, again, said]);
    const late = events.filter(({ type }) => type === 'content_block_stop');
    reply = streaming([...events.filter(event => !late.includes(event)).slice(0, -2), ...late, ...events.slice(-2)]);
    const { message, svc } = await streamed({ thinking: asked_for });
    const blocks = [thinking, again, said].map(block => ('display' in asked_for ? withoutText(block) : block));
    expect(message.content).toEqual(shownOf(blocks));
    expect(commitment(svc())).toMatchObject({ hash: canonicalHash(shownOf(blocks) as Json) });
  });

  it('of a stream that breaks off behind it, its signature is there, and again where it is replayed', async () => {
    reply = streaming(parts.slice(0, 7));
    const payment = await service.payment(await service.chain.newWallet(), MESSAGES);
    for (let times = 0; times < 5; times++) {
      const events: JsonObject[] = [];
      await expect(streamed({}, payment, events)).rejects.toMatchObject({ type: 'api_error' });
      const deltas = events.flatMap(event => (event.type === 'content_block_delta' ? [event.delta] : []));
      expect(deltas.at(-1)).toEqual({ type: 'signature_delta', signature: 'RXZqM0Jn' });
      expect(events.map(({ type }) => type)).not.toContain('content_block_stop');
    }
  });

  it('sent back in a history, each block reaches the hub as it came', async () => {
    const shown = shownOf(turns.filter(({ signature }) => signature !== ''));
    const result = { type: 'tool_result', tool_use_id: 'toolu_01', content: [{ type: 'text', text: '18 degrees' }] };
    const messages = [
      ...(asked.messages as JsonObject[]),
      { role: 'assistant', content: shown },
      { role: 'user', content: [result] },
    ];
    expect((await bought({ messages })).status).toBe(200);
    const body = hub.received.at(-1)?.body as { readonly messages: { readonly content: JsonObject[] }[] } | undefined;
    const history = body?.messages.at(-2);
    expect(history?.content.filter(isThought)).toEqual(shown.filter(isThought));
    expect(history?.content.map(({ type }) => type)).toEqual(shown.map(({ type }) => type));
  });
});

describe('a hub of the dialect', () => {
  it('is put what the caller wrote, in its own words and under our key', async () => {
    await bought({ metadata: { user_id: 'somebody' }, intent_id: 'a-bill' });
    const { path, headers, body } = hub.received.at(-1) ?? {};
    expect(path).toBe('/v1/messages');
    expect(headers).toMatchObject({ 'x-api-key': 'key-of-the-hub', 'anthropic-version': '2023-06-01' });
    expect(headers?.authorization).toBeUndefined();
    expect(body).toEqual(asked);
  });

  it('is sent the betas that are served, but for those that say who asks or raise its price, and the payment is bound to them', async () => {
    const unsent =
      'context-1m-2025-08-07,extended-cache-ttl-2025-04-11,output-128k-2025-02-19,dev-full-thinking-2025-05-14';
    const betas = `interleaved-thinking-2025-05-14, claude-code-20250219,context-management-2025-06-27,${unsent}`;
    const payment = await service.payment(await service.chain.newWallet(), MESSAGES);
    type Bought = { readonly svc: ReceiptBody };
    const { body } = await service.post<Bought>(MESSAGES, asked, { ...payment, 'anthropic-beta': betas });
    const sent = 'context-management-2025-06-27,interleaved-thinking-2025-05-14';
    expect(hub.received.at(-1)).toMatchObject({ headers: { 'anthropic-beta': sent }, body: asked });
    const named = await service.post<Bought>(MESSAGES, { ...asked, betas: sent.split(',') }, payment);
    expect(named.body.svc.task_id).toBe(body.svc.task_id);
    const other = await service.post(MESSAGES, asked, { ...payment, 'anthropic-beta': 'effort-2025-11-24' });
    expect(other).toMatchObject({ status: 409, body: { code: 'claim_already_settled' } });
    await bought();
    expect(hub.received.at(-1)?.headers).not.toHaveProperty('anthropic-beta');
  });

  const oneOfMany = 'effort-2025-11-24';
  it.each(
    [
      ['that is not served', ['mcp-client-2025-11-20']],
      ['without a date', ['effort']],
      ['of a day that is none', ['effort-2025-02-30']],
      ['of two days', [oneOfMany, 'effort-2025-11-25']],
      ['as the 33rd', Array.from({ length: 33 }, () => oneOfMany)],
      ['beyond 1 KB', [`${'e'.repeat(1_024)}-2025-11-24`]],
    ].flatMap(([what, betas]) => [
      [what, 'anthropic-beta', {}, { 'anthropic-beta': String(betas) }] as const,
      [what, 'betas', { betas: betas as string[] }, {}] as const,
    ]),
  )('is sent no beta %s: 400, naming %s', async (_, param, members, headers) => {
    const before = hub.received.length;
    const payment = await service.payment(await service.chain.newWallet(), MESSAGES);
    const refused = await service.post(MESSAGES, { ...asked, ...members }, { ...payment, ...headers });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param } } });
    expect(hub.received).toHaveLength(before);
  });

  it('answers whole: every block as it came, with its signature, and its model in the receipt', async () => {
    const { status, body, payer } = await bought();
    expect([status, body]).toMatchObject([200, answer]);
    expect(body.svc).toMatchObject({ hub: 'one', payload: { answered_model: 'claude-one-20251001' } });
    expect(commitment(body.svc)).toMatchObject({ hash: canonicalHash(body.content as Json) });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('answers in events: the same blocks, put together by the official client', async () => {
    reply = streaming(parts);
    const { message, svc, payer } = await streamed();
    expect(message).toMatchObject(answer);
    expect(hub.received.at(-1)).toMatchObject({ headers: { 'anthropic-beta': 'effort-2025-11-24' } });
    expect(hub.received.at(-1)?.body).toEqual({ ...asked, stream: true });
    expect(JSON.stringify(hub.received.at(-1)?.headers)).not.toContain('sk-ant-of-the-caller');
    expect(commitment(svc())).toMatchObject({ hash: canonicalHash(content as Json) });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['end_turn', { content: [said], stop_reason: 'end_turn' }, { stop_reason: 'end_turn', stop_sequence: null }],
    ['max_tokens', { content: [], stop_reason: 'max_tokens' }, { stop_reason: 'max_tokens', content: [] }],
    [
      'stop_sequence',
      { content: [said], stop_reason: 'stop_sequence', stop_sequence: 'END' },
      { stop_reason: 'stop_sequence', stop_sequence: 'END' },
    ],
    ['refusal', { content: [], stop_reason: 'refusal' }, { stop_reason: 'refusal', stop_details: { type: 'refusal' } }],
  ])('ends by %s', async (_, members, ended) => {
    reply = whole(members);
    expect((await bought()).body).toMatchObject(ended);
  });

  it.each<[string, JsonObject]>([
    ['no content', { content: null }],
    ['a block of another kind', { content: [{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }] }],
    ['text that is none', { content: [{ type: 'text', text: 7 }] }],
    ['a call without a name', { content: [{ ...call, name: undefined as unknown as Json }] }],
    ['nothing', { content: [], stop_reason: 'end_turn' }],
  ])('that answers with %s has not answered: 502, and nothing is charged', async (_, members) => {
    reply = whole(members);
    const { status, body, payer } = await bought();
    expect([status, body]).toMatchObject([502, { code: 'hub_failed', attempts: [{ reason: 'not_a_completion' }] }]);
    expect(await service.transfersFrom(payer)).toEqual([]);
  });

  it("says what is wrong with a request in its caller's words", async () => {
    const error = { type: 'invalid_request_error', message: 'prompt is too long: 208310 tokens > 200000 maximum' };
    reply = response =>
      void response.writeHead(400).end(JSON.stringify({ type: 'error', error, request_id: 'req_011' }));
    const { status, body, payer } = await bought();
    expect([status, body]).toMatchObject([400, { code: 'hub_rejected_request', type: 'error', error: { ...error } }]);
    expect(await service.transfersFrom(payer)).toEqual([]);
  });

  it('that is overloaded has not answered: 502, as its clients retry', async () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' };
    reply = response => void response.writeHead(529).end(JSON.stringify({ type: 'error', error }));
    expect(await bought()).toMatchObject({ status: 502, body: { error: { type: 'api_error' }, charged: false } });
  });

  it.each<[string, readonly JsonObject[]]>([
    ['an error', [...parts.slice(0, 9), { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }]],
    ['nothing more', parts.slice(0, 9)],
  ])('that breaks off with %s: the stream throws, and what came was charged', async (_, events) => {
    reply = streaming(events);
    await expect(streamed()).rejects.toMatchObject({ type: 'api_error' });
  });

  it('that fails before a word of its stream: thrown, and nothing is charged', async () => {
    reply = streaming([start, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }]);
    await expect(streamed()).rejects.toMatchObject({ status: 502 });
  });

  it('reads PDFs and images where it looks at them, and else the block is named', async () => {
    const pdf = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } };
    const messages = [{ role: 'user', content: [pdf] }];
    expect((await bought({ model: 'claude-eye', messages })).status).toBe(200);
    expect(hub.received.at(-1)?.body).toMatchObject({ messages });
    expect(await bought({ messages })).toMatchObject({
      status: 400,
      body: { error: { param: 'messages.0.content.0', message: expect.stringContaining('does not accept PDFs') } },
    });
  });

  it('keeps what was thought elsewhere to itself where nobody has signed it', async () => {
    const turn = { role: 'assistant', content: [{ ...thinking, signature: '' }, thinking, said] };
    await bought({ messages: [...(asked.messages as JsonObject[]), turn, { role: 'user', content: 'Go on.' }] });
    expect(hub.received.at(-1)?.body).toMatchObject({ messages: [{}, { content: [thinking, said] }, {}] });
  });

  it('is asked for messages alone, also by svc/auto: a chat is told that there is no such model', async () => {
    expect((await bought({ model: 'svc/auto' })).status).toBe(200);
    const messages = [{ role: 'user', content: 'Hi' }];
    for (const [path, body] of [
      [CHAT, { model: 'claude-one', messages }],
      ['/v1/responses', { model: 'claude-one', input: 'Hi' }],
    ] as const) {
      const heard = await service.post(path, body, await service.payment(await service.chain.newWallet(), path));
      expect(heard).toMatchObject({ status: 400, body: { code: 'unknown_model' } });
    }
  });

  it('has its models in the list', async () => {
    const { body } = await service.get<{ data: JsonObject[] }>('/v1/models');
    expect(body.data).toContainEqual(
      expect.objectContaining({ id: 'claude-eye', modality: { input: ['text', 'image'], output: ['text'] } }),
    );
  });
});
