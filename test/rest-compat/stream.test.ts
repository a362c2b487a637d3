import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DoorResult } from '../../rest-compat/port.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { fail, openRestFixture, payment, type RestFixture, succeed } from '../harness/rest-compat/fake-port.ts';

let house: RestFixture;
beforeAll(async () => {
  house = await openRestFixture();
});
afterAll(() => house.close());
beforeEach(() => {
  house.port.calls.length = 0;
  house.port.events = null;
});

const chat = '/v1/chat/completions';
const paid = { 'payment-signature': payment };
const streaming = (members: JsonObject = {}) => ({
  messages: [{ role: 'user', content: 'hi' }],
  stream: true,
  ...members,
});
const post = (body: object) => house.post(chat, body, paid);

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };
const chunk = (members: JsonObject): Pick<DoorResult, 'data' | 'errors'> => ({
  data: { answer: { ...head, choices: [], usage: null, svc: null, ...members } },
  errors: [],
});
const deltaChunk = (role: string | null, content: string | null, finish_reason: string | null = null) =>
  chunk({ choices: [{ index: 0, delta: { role, content }, finish_reason }] });
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const all = [
  deltaChunk('assistant', ''),
  deltaChunk(null, 'Hi'),
  deltaChunk(null, null, 'stop'),
  chunk({ usage, svc: { a: null } }),
];

const framed = (...events: (object | string)[]) =>
  events.map(event => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');

describe('a body with stream: true', () => {
  it('runs the subscription with the same input, and each event goes out as a chunk of OpenAI', async () => {
    succeed(house.port, {}, { 'PAYMENT-RESPONSE': 'c2V0dGxlZA==' });
    house.port.events = all;
    const response = await post(streaming());
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      'payment-response': 'c2V0dGxlZA==',
    });
    const delta = (said: object, finish_reason: string | null = null) => ({
      ...head,
      choices: [{ index: 0, delta: said, finish_reason }],
    });
    expect(await response.text()).toBe(
      framed(
        delta({ role: 'assistant', content: '' }),
        delta({ content: 'Hi' }),
        delta({}, 'stop'),
        { ...head, choices: [], svc: { a: null } },
        '[DONE]',
      ),
    );
    expect(house.port.calls).toEqual([
      {
        operation: 'chat_completions_stream',
        variables: { input: expect.objectContaining({ stream: true, streamOptions: { includeUsage: false } }) },
      },
    ]);
  });

  it('with include_usage: usage stands in every chunk, null but in the last', async () => {
    house.port.events = all;
    const response = await post(streaming({ stream_options: { include_usage: true } }));
    const events = (await response.text()).split('\n\n').filter(event => event.startsWith('data: {'));
    const usages = events.map(event => (JSON.parse(event.slice(6)) as { usage: unknown }).usage);
    expect(usages).toEqual([null, null, null, usage]);
  });

  it('that is refused before the first event is answered like any other', async () => {
    fail(house.port, { code: 'hub_failed', status: 502, message: 'no hub', facts: { charged: false } });
    const response = await post(streaming());
    expect(response.status).toBe(502);
    expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(await response.json()).toMatchObject({ code: 'hub_failed', charged: false });
  });

  it('that breaks after it has begun ends with the fault, and without [DONE]', async () => {
    const facts = { task_id: 'task_1', retry_after_seconds: 2 };
    const error = { code: 'settlement_pending', status: 503, message: 'not known yet', facts } as const;
    house.port.events = [...all.slice(0, 2), { data: null, errors: [error] }, ...all.slice(2)];
    const text = await (await post(streaming())).text();
    const fault = { message: 'not known yet', type: 'server_error', code: 'settlement_pending', param: null };
    expect(text.endsWith(framed({ ...facts, error: fault }))).toBe(true);
    expect(text).not.toContain('[DONE]');
  });

  it('that breaks by a fault of ours says no more than that', async () => {
    const error = { code: 'internal', status: 500, message: 'secret of 10.0.0.7', facts: { secret: 1 } } as const;
    house.port.events = [{ data: null, errors: [error] }];
    const text = await (await post(streaming())).text();
    expect(text).toContain('"code":"internal"');
    expect(text).not.toMatch(/secret/);
  });
});

describe('a response with stream: true', () => {
  const asked = { input: 'hi', stream: true };
  const event = (type: string, sequence_number: number) => ({ type, sequence_number, response: { error: null } });
  const eventResult = (type: string, index: number) => ({
    data: { answer: { event: event(type, index) } },
    errors: [],
  });
  const named = (data: { readonly type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

  it('runs its own subscription; each event goes out under its name, and nothing after the last', async () => {
    house.port.events = [eventResult('response.created', 0), eventResult('response.completed', 1)];
    const response = await house.post('/v1/responses', asked, paid);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await response.text()).toBe(named(event('response.created', 0)) + named(event('response.completed', 1)));
    expect(house.port.calls).toEqual([
      { operation: 'create_response_stream', variables: { input: expect.objectContaining({ stream: true }) } },
    ]);
  });

  it('that breaks after it has begun ends with an event of that name, in its place', async () => {
    const facts = { task_id: 'task_1' };
    const error = { code: 'settlement_pending', status: 503, message: 'not known yet', facts } as const;
    house.port.events = [eventResult('response.created', 0), { data: null, errors: [error] }];
    const text = await (await house.post('/v1/responses', asked, paid)).text();
    const fault = { code: 'settlement_pending', message: 'not known yet', param: null };
    const data = { type: 'error', sequence_number: 1, ...fault, ...facts };
    expect(text).toBe(
      named(event('response.created', 0)) +
        named({
          ...data,
          error: { message: fault.message, type: 'server_error', code: fault.code, param: null },
        } as never),
    );
  });
});

describe.each([
  ['false', { stream: false }],
  ['null', { stream: null }],
  ['nothing', {}],
])('a body with stream: %s', (_, members) => {
  it('is answered whole, and what it says of a stream counts for nothing', async () => {
    succeed(house.port, { answer: { id: 'x' } });
    const options = { stream_options: { include_usage: true } };
    const response = await post({ messages: [{ role: 'user', content: 'hi' }], ...members, ...options });
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const [call] = house.port.calls;
    expect(call?.operation).toBe('chat_completions');
    expect(call?.variables.input).not.toHaveProperty('streamOptions');
  });
});

describe('a reader of a stream', () => {
  it('who leaves is let go of, and who is slow is waited for', async () => {
    const gone = Promise.withResolvers<void>();
    let given = 0;
    const endless = {
      async *[Symbol.asyncIterator]() {
        try {
          for (;;) {
            given++;
            yield deltaChunk(null, 'x'.repeat(64 * 1024));
          }
        } finally {
          gone.resolve();
        }
      },
    };
    house.port.events = endless as unknown as typeof house.port.events;
    const leaving = new AbortController();
    const response = await fetch(house.url + chat, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...paid },
      body: JSON.stringify(streaming()),
      signal: leaving.signal,
    });
    const reader = response.body?.getReader();
    await reader?.read();
    // What the sockets and buffers between us hold, and not a stream without end.
    let before = -1;
    await expect
      .poll(
        () => {
          const still = given === before;
          before = given;
          return still;
        },
        { interval: 200 },
      )
      .toBe(true);
    leaving.abort();
    await gone.promise;
  });
});
