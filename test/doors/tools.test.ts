import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalHash, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { payingFetch } from '../harness/buyer.ts';
import { askToStream, listen, type StreamAnswer } from '../harness/doors/listen.ts';
import {
  ask,
  CHAT,
  type Chat,
  type ReceiptBody,
  resetHubsBeforeEach,
  type Service,
  sharedService,
} from '../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
resetHubsBeforeEach(() => service);

const parameters = {
  type: 'object',
  properties: { cityName: { type: 'string' }, days: { type: 'integer', minimum: 3 }, __proto: { type: 'null' } },
  required: ['cityName', 'days'],
  additionalProperties: false,
};
const weather = { type: 'function', function: { name: 'get_weather', description: 'By city', parameters } };
const tools = [weather];
const given = { cityName: 'sample', days: 3 };

const commitment = (svc: JsonObject = {}) =>
  (svc.payload as { fulfillment: { output_commitment: JsonObject } }).fulfillment.output_commitment;
const byKey = { Authorization: 'Bearer a-live-key' };
const hubHeard = () => service.hubs[0].requests.at(-1)?.body as JsonObject;

/** The message that the deltas of a stream add up to, by the rule of the receipt policy only. */
function assembled(chunks: StreamAnswer['chunks']): Json {
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  const content = deltas.map(delta => delta.content ?? '').join('');
  const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = [];
  for (const { index, id = '', type = '', function: part } of deltas.flatMap(delta => delta.tool_calls ?? [])) {
    calls[index] ??= { id, type, function: { name: part.name ?? '', arguments: '' } };
    calls[index].function.arguments += part.arguments;
  }
  return { role: 'assistant', content: content === '' ? null : content, tool_calls: calls };
}

describe('POST /v1/chat/completions with tools', () => {
  it('the hub gets them as they are; its call is the answer, charged once, and committed to by its message', async () => {
    const payer = await service.chain.newWallet();
    const members = { tools, tool_choice: 'required', parallel_tool_calls: false };
    const { status, body, text } = await service.buy(payer, ask('Weather?', members));
    expect(status).toBe(200);
    expect(hubHeard()).toMatchObject(members);
    const [choice] = body.choices;
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { role: 'assistant', content: null } });
    const [call] = choice?.message.tool_calls ?? [];
    expect(call).toMatchObject({ type: 'function', function: { name: 'get_weather' } });
    expect(JSON.parse(call?.function.arguments ?? '')).toEqual(given);
    // Computed from the bytes of the answer only.
    const raw = JSON.parse(text) as { choices: [{ message: Json }] };
    expect(commitment(body.svc)).toMatchObject({ status: 'committed', hash: canonicalHash(raw.choices[0].message) });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('streamed: deltas as the hub sends them, and the commitment is to what they add up to', async () => {
    const payer = await service.chain.newWallet();
    const stream = await listen(service, askToStream('Weather?', { tools }), { by: payingFetch(payer) });
    const heard = await stream.rest();
    expect(heard).toMatchObject({ ends_well: true, text: '', finish_reasons: ['tool_calls'] });
    const deltas = heard.chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []));
    expect(deltas.length).toBeGreaterThan(2);
    expect(deltas[0]).toEqual({
      index: 0,
      id: expect.stringMatching(/^call_/),
      type: 'function',
      function: { name: 'get_weather', arguments: '' },
    });
    expect(deltas[1]).toEqual({ index: 0, function: { arguments: '{"cityName":' } });
    expect(commitment(heard.svc)).toMatchObject({ hash: canonicalHash(assembled(heard.chunks)) });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it.each([false, true])(
    'the same payment again (stream: %s): the same call and the same signed bytes',
    async stream => {
      const payer = await service.chain.newWallet();
      const payment = await service.payment(payer, CHAT);
      const body = ask('Again', { tools, stream });
      const bought = async () => {
        if (stream) return (await listen(service, body, { headers: payment })).rest();
        const { body: answer } = await service.post<Chat>(CHAT, body, payment);
        return { message: answer.choices[0]?.message, svc: answer.svc };
      };
      const [first, again] = [await bought(), await bought()];
      const message = (heard: typeof first) => ('chunks' in heard ? assembled(heard.chunks) : heard.message);
      expect(message(again)).toEqual(message(first));
      expect(again.svc).toMatchObject({
        settlement_status: 'idempotent_replay',
        issuer_signature: first.svc?.issuer_signature,
      });
      const otherTool = { ...weather, function: { ...weather.function, name: 'other' } };
      const other = await service.post(CHAT, ask('Again', { tools: [otherTool], stream }), payment);
      expect(other).toMatchObject({ status: 409, body: { code: 'claim_already_settled' } });
      expect(await service.transfersFrom(payer)).toHaveLength(1);
    },
  );

  it('streamed by key as POST /a2a-message and again under its Idempotency-Key: the same call, the same signed bytes', async () => {
    const headers = { ...byKey, 'Idempotency-Key': 'tools-streamed-1' };
    const bought = async () =>
      (await listen(service, askToStream('Weather?', { tools }), { path: '/a2a-message', headers })).rest();
    const [first, again] = [await bought(), await bought()];
    expect(first).toMatchObject({ ends_well: true, finish_reasons: ['tool_calls'] });
    expect(commitment(first.svc)).toMatchObject({ hash: canonicalHash(assembled(first.chunks)) });
    expect(assembled(again.chunks)).toEqual(assembled(first.chunks));
    expect(again.svc).toMatchObject({
      settlement_status: 'idempotent_replay',
      issuer_signature: first.svc?.issuer_signature,
    });
  });

  it('what came of a call is sent back with roles tool and developer, and the hub speaks', async () => {
    const call = {
      id: 'call_1',
      type: 'function',
      function: { name: 'get_weather', arguments: '{"cityName":"Wien"}' },
    };
    const messages = [
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'Be ' },
          { type: 'text', text: 'short.' },
        ],
      },
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: null, tool_calls: [call], refusal: null, annotations: [], audio: null },
      { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: '21 °C' }] },
    ];
    const { status, body } = await service.post<Chat>(CHAT, { messages, tools }, byKey);
    expect([status, body.choices[0]?.finish_reason]).toEqual([200, 'stop']);
    expect(body.choices[0]?.message.content).toContain('A tool said: "21 °C"');
    expect(body.choices[0]?.message).not.toHaveProperty('tool_calls');
    expect(hubHeard().messages).toEqual([
      { role: 'developer', content: 'Be short.' },
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', content: '21 °C', tool_call_id: 'call_1' },
    ]);
  });

  it('by key and as POST /a2a-message: the same call, the same rule', async () => {
    for (const path of [CHAT, '/a2a-message']) {
      const { status, body } = await service.post<Chat>(path, ask('Weather?', { tools }), byKey);
      expect(status).toBe(200);
      const [choice] = body.choices;
      expect(choice?.message.tool_calls).toHaveLength(1);
      expect(commitment(body.svc)).toMatchObject({ hash: canonicalHash(choice?.message as Json) });
    }
  });
});

describe('POST /v1/chat/completions, passed on', () => {
  const schema = { type: 'object', properties: { aB: { type: 'string' } }, required: ['aB'] };
  const image = { type: 'image_url', image_url: { url: 'https://example.com/cat.png', detail: 'low' } };
  const data = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };

  it('all that changes an answer, as it was said', async () => {
    const members = {
      response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } },
      top_p: 0.25,
      seed: 7,
      presence_penalty: -1.5,
      frequency_penalty: 0.5,
    };
    const { body } = await service.post<Chat>(CHAT, ask('JSON', { ...members, stop: 'END', user: 'me' }), byKey);
    expect(JSON.parse(body.choices[0]?.message.content ?? '')).toEqual({ aB: 'sample' });
    const { model: _, messages, ...heard } = hubHeard();
    expect(heard).toEqual({ ...members, stop: ['END'] });
    expect(messages).toEqual([{ role: 'user', content: 'JSON' }]);
  });

  it('images, to a model that looks at them; reasoning_effort, to one that reasons', async () => {
    const content = [{ type: 'text', text: 'What is this?' }, image, data];
    const asked = { messages: [{ role: 'user', content }], model: 'alpha-2', reasoning_effort: 'low' };
    expect(await service.post(CHAT, asked, byKey)).toMatchObject({ status: 200, body: { model: 'alpha-2' } });
    expect(hubHeard()).toEqual({ model: 'alpha-2', messages: [{ role: 'user', content }], reasoning_effort: 'low' });
    expect(await service.post(CHAT, { ...asked, model: 'svc/auto' }, byKey)).toMatchObject({
      body: { model: 'alpha-2' },
    });
    const plain = await service.post(CHAT, ask('Think', { model: 'alpha-1', reasoning_effort: 'low' }), byKey);
    expect([plain.status, hubHeard().reasoning_effort]).toEqual([200, undefined]);
  });

  const user = (...content: Json[]) => ({ messages: [{ role: 'user', content }] });
  const called = (members: JsonObject) => ({ messages: [{ role: 'assistant', ...members }] });
  const nested = (levels: number): Json => (levels === 0 ? {} : { a: nested(levels - 1) });
  it.each<[string, string, JsonObject]>([
    ['an image for a model that looks at none', 'messages.0.content.0', { ...user(image), model: 'alpha-1' }],
    [
      'an image by http',
      'messages.0.content.0.image_url.url',
      user({ type: 'image_url', image_url: { url: 'http://a/' } }),
    ],
    ['an image of the system', 'messages.0.content.0.type', { messages: [{ role: 'system', content: [image] }] }],
    ['a video', 'messages.0.content.0.type', user({ type: 'video_url', video_url: {} })],
    [
      'a call without an id',
      'messages.0.tool_calls.0.id',
      called({ tool_calls: [{ function: { name: 'f', arguments: '' } }] }),
    ],
    ['a tool that is no function', 'tools.0.type', ask('x', { tools: [{ type: 'web_search' }] })],
    ['a tool without a name', 'tools.0.function.name', ask('x', { tools: [{ type: 'function', function: {} }] })],
    [
      'a choice that is not offered',
      'tool_choice',
      ask('x', { tools, tool_choice: { type: 'function', function: { name: 'g' } } }),
    ],
    [
      'a schema that is text',
      'tools.0.function.parameters',
      ask('x', { tools: [{ type: 'function', function: { name: 'f', parameters: 'x' } }] }),
    ],
    [
      'a schema 50 deep',
      'tools.0.function.parameters',
      ask('x', { tools: [{ type: 'function', function: { name: 'f', parameters: nested(50) } }] }),
    ],
    [
      'a schema with half of a surrogate pair',
      'response_format.json_schema.schema',
      ask('x', { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { '\ud800': 1 } } } }),
    ],
    ['129 tools', 'tools', ask('x', { tools: Array.from({ length: 129 }, () => weather) })],
    ['five stops', 'stop', ask('x', { stop: ['a', 'b', 'c', 'd', 'e'] })],
    ['top_p 2', 'top_p', ask('x', { top_p: 2 })],
    ['logit_bias', 'logit_bias', ask('x', { logit_bias: { 50256: -100 } })],
  ])('but 400 on %s: param %s, and nothing is charged', async (_, param, body) => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const refused = await service.post(CHAT, body, payment);
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param } } });
    expect(await service.claimsOf(payer)).toEqual([]);
    expect((await service.post(CHAT, ask(), payment)).status).toBe(200);
  });
});

describe('an answer of a hub', () => {
  const hubAnswer = (message: JsonObject, finish_reason = 'stop') => ({
    kind: 'status' as const,
    status: 200,
    body: { choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }] },
  });

  it('that refuses is an answer, and committed to', async () => {
    service.hubs[0].behave(hubAnswer({ content: null, refusal: 'I will not.' }));
    const { body } = await service.post<Chat & { svc: ReceiptBody }>(CHAT, ask('Refuse'), byKey);
    const message = { role: 'assistant', content: null, refusal: 'I will not.' };
    expect(body.choices[0]?.message).toEqual(message);
    expect(commitment(body.svc)).toMatchObject({ hash: canonicalHash(message) });
  });

  it.each<[string, JsonObject]>([
    ['calls nothing and says nothing', { content: null, tool_calls: [] }],
    ['calls without a name', { content: null, tool_calls: [{ id: 'a', function: { arguments: '{}' } }] }],
  ])('that %s is none: the next hub answers', async (_, message) => {
    service.hubs[0].behave(hubAnswer(message, 'tool_calls'));
    expect(await service.post(CHAT, ask('Next'), byKey)).toMatchObject({ status: 200, body: { model: 'beta-1' } });
  });
});
