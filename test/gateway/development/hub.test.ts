import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { namedModels } from '../../../gateway/development/hub/answer.ts';
import { startDevelopmentHub } from '../../../gateway/development/hub/start.ts';
import { atEnd } from '../../harness/release.ts';

const hub = await startDevelopmentHub({ name: 'alpha', models: ['dev/small', 'dev/large'], api_key: 'k' });
atEnd(hub.close);
const client = (apiKey = 'k') => new OpenAI({ baseURL: hub.base_url, apiKey, maxRetries: 0 });
const messages = [
  { role: 'system', content: 'Be kind.' },
  { role: 'user', content: 'What is a receipt?' },
] satisfies OpenAI.ChatCompletionMessageParam[];

it('a development router tells of a generation as OpenRouter does, to the key whose it is and to nobody else', async () => {
  const router = await startDevelopmentHub({ name: 'router', models: ['dev/routed'], api_key: null });
  atEnd(router.close);
  const asking = new OpenAI({ baseURL: router.base_url, apiKey: 'mine', maxRetries: 0 });
  const { id, usage } = await asking.chat.completions.create({ model: 'dev/routed', messages });
  const lookUp = async (key: string, of = id) => {
    const answer = await fetch(`${router.base_url}/generation?id=${of}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    return { status: answer.status, body: (await answer.json()) as { data?: object } };
  };
  expect(await lookUp('mine')).toMatchObject({
    status: 200,
    body: {
      data: {
        id,
        model: 'dev/routed',
        streamed: false,
        total_cost: expect.any(Number),
        tokens_prompt: usage?.prompt_tokens,
        tokens_completion: usage?.completion_tokens,
      },
    },
  });
  expect([(await lookUp('another')).status, (await lookUp('mine', 'gen-none')).status]).toEqual([404, 404]);
});

it.each([false, true])('dev/echo answers with the very body that reached it, and no key (stream: %s)', async stream => {
  const echo = await startDevelopmentHub({ name: 'echo', models: ['dev/echo'], api_key: 'a-key-of-a-hub' });
  atEnd(echo.close);
  const body = { model: 'dev/echo', messages: [{ role: 'user', content: 'Hi', weight: 2 }], top_k: 3, stream };
  const answer = await fetch(`${echo.base_url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer a-key-of-a-hub' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  const events = text.split('\n\n').filter(event => event.startsWith('data: {'));
  const pieces = events.map(event => JSON.parse(event.slice('data: '.length)).choices[0]?.delta.content ?? '');
  const said = stream ? pieces.join('') : JSON.parse(text).choices[0].message.content;
  expect(JSON.parse(said)).toEqual(body);
  expect(text).not.toContain('a-key-of-a-hub');
});

describe('the development hub, by the official client', () => {
  it('GET /v1/models lists what it serves', async () => {
    const page = await client().models.list();
    expect(page.data.map(model => [model.id, model.owned_by])).toEqual([
      ['dev/small', 'alpha'],
      ['dev/large', 'alpha'],
    ]);
  });

  it('POST /v1/chat/completions answers the last user message, the same each time, and says what it is', async () => {
    const ask = () => client().chat.completions.create({ model: 'dev/small', messages });
    const [first, second] = [await ask(), await ask()];
    const text = first.choices[0]?.message.content ?? '';
    expect(text).toContain('development model');
    expect(text).toContain('What is a receipt?');
    expect(second.choices).toEqual(first.choices);
    expect(second.id).toBe(first.id);
    expect(first.usage).toEqual({ prompt_tokens: 6, completion_tokens: 17, total_tokens: 23 });
  });

  it.each(Object.entries(namedModels))(
    '%s names another model in its answers, whole and streamed',
    async (model, named) => {
      const naming = await startDevelopmentHub({ name: 'alpha', models: [model], api_key: 'k' });
      atEnd(naming.close);
      const asking = new OpenAI({ baseURL: naming.base_url, apiKey: 'k', maxRetries: 0 });
      const whole = await asking.chat.completions.create({ model, messages });
      const stream = await asking.chat.completions.create({ model, messages, stream: true });
      const chunks = [];
      for await (const chunk of stream) chunks.push(chunk.model);
      expect([whole.model, ...new Set(chunks)]).toEqual([named.names, named.names]);
      expect(named.source).toMatch(/\w+, .*\.(?:com|org)\//);
    },
  );

  it('max_tokens cuts the answer', async () => {
    const answer = await client().chat.completions.create({ model: 'dev/small', messages, max_tokens: 3 });
    expect(answer.choices[0]).toMatchObject({ message: { content: 'This is dev/small ' }, finish_reason: 'length' });
  });

  it('a stream carries the same text in pieces, and the usage at its end when asked', async () => {
    const whole = await client().chat.completions.create({ model: 'dev/small', messages });
    const stream = await client().chat.completions.create({
      model: 'dev/small',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.map(chunk => chunk.choices[0]?.delta.content ?? '').join('')).toBe(whole.choices[0]?.message.content);
    expect(chunks.at(-1)?.usage).toEqual(whole.usage);
    expect(chunks.filter(chunk => chunk.usage)).toHaveLength(1);
  });

  it.each([
    ['401 without its key', () => client('wrong').models.list(), 401],
    ['404 for an unknown model', () => client().chat.completions.create({ model: 'gpt-9', messages }), 404],
    ['400 without messages', () => client().chat.completions.create({ model: 'dev/small', messages: [] }), 400],
    ['404 for another door', () => client().embeddings.create({ model: 'dev/small', input: 'x' }), 404],
  ])('answers %s', async (_name, act, status) => {
    await expect(act()).rejects.toMatchObject({ status });
  });
});
