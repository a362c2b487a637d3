import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { type EndHabit, endHabits } from '../../../../gateway/development/hub/habits.ts';
import { endOf, keptEnd, WHOLE } from '../../../../subgraphs/answer-end.ts';
import { systemClock } from '../../../../subgraphs/clock.ts';
import { candidatesFor } from '../../../../subgraphs/receipt/inference/catalogue.ts';
import { chatEndOf, type KeptChat } from '../../../../subgraphs/receipt/inference/completions/completion.paid.ts';
import { chatQuestion } from '../../../../subgraphs/receipt/inference/hubs/chat.ts';
import { finishReasonOf, finishReasons } from '../../../../subgraphs/receipt/inference/hubs/finish-reason.ts';
import { openHubs } from '../../../../subgraphs/receipt/inference/hubs/open.ts';
import { type KeptResponse, responseEndOf } from '../../../../subgraphs/receipt/inference/responses/response.paid.ts';
import { gather } from '../../../harness/gather.ts';
import { openHubServer } from '../../../harness/receipt/inference/hub-server.ts';

/* Who caused an answer to break off, which part of the hub's error a caller may get, and how an answer ends. */

const KEY = 'sk-one-4f1b7c9d02aa';
const request = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5, temperature: null };
const first = 'data: {"choices":[{"delta":{"content":"One "}}]}\n\n';
const error = (said: object) => `${first}data: ${JSON.stringify({ error: said })}\n\n`;
const nothing = { code: null, type: null, param: null };

type Then = (response: ServerResponse) => void;
const ended: Then = response => void response.end();
const cut: Then = response => void response.destroy();
const hanging: Then = () => {};

async function broken(text: string, then: Then = ended, cancel = false) {
  await using hub = await openHubServer(response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text, () => then(response));
  });
  const settings = [{ name: 'one', base_url: hub.base_url, api_key: KEY, models: ['m'] }];
  const bounds = { timeout_ms: 60_000, stream_ms_max: 60_000, stream_idle_ms_max: 60_000, answer_bytes_max: 1_000 };
  const hubs = openHubs(settings, {
    clock: systemClock,
    ...bounds,
    ...(then === silent && { stream_idle_ms_max: 100 }),
    ...(then === hanging && { stream_ms_max: 900 }),
  });
  try {
    const candidates = candidatesFor(hubs.settings, 'svc/auto');
    const outcome = await hubs.stream(request, { candidates, until_ms: Number.MAX_SAFE_INTEGER });
    if (outcome.kind === 'failed') throw new Error(JSON.stringify(outcome.attempts));
    if (cancel) outcome.listening.cancel();
    await gather(outcome.listening.pieces);
    const { end, finish_reason, message } = outcome.listening.reply();
    return { end, finish_reason, content: message.content };
  } finally {
    await hubs.close();
  }
}
/** Same as `hanging`, for a hub with a shorter time limit. */
const silent: Then = () => {};

describe('an answer that breaks off', () => {
  it.each<[string, () => ReturnType<typeof broken>, string]>([
    ['a connection that is cut', () => broken(first, cut), 'hub'],
    ['an end without a word', () => broken(first), 'hub'],
    ['silence', () => broken(first, silent), 'hub'],
    ['an event that is no JSON', () => broken(`${first}data: {{{\n\n`), 'hub'],
    ['the time that a stream may take', () => broken(first, hanging), 'limit'],
    [
      'more than an answer may hold',
      () => broken(`${first}data: {"choices":[{"delta":{"content":"${'x'.repeat(1_000)}"}}]}\n\n`),
      'limit',
    ],
    ['a stop of ours', () => broken(first, hanging, true), 'stop'],
  ])('by %s', async (_, made, by) => {
    expect((await made()).end).toMatchObject({ kind: 'broke_off', by, hub_error: null });
  });

  it.each<[string, object, string, object | null]>([
    [
      'that it is overloaded',
      { message: 'Overloaded.', type: 'server_error', code: 'overloaded' },
      'hub',
      { ...nothing, type: 'server_error', code: 'overloaded', message: 'Overloaded.' },
    ],
    ['a status of its own', { message: 'Bad gateway', code: 502 }, 'hub', { ...nothing, message: 'Bad gateway' }],
    [
      'that the request is too long',
      { message: 'Too long.', code: 'context_length_exceeded' },
      'request',
      { ...nothing, code: 'context_length_exceeded', message: 'Too long.' },
    ],
    [
      'that the request is bad, by its status',
      { message: 'No.', code: 400 },
      'request',
      { ...nothing, message: 'No.' },
    ],
    [
      'that the input is flagged',
      { message: 'Flagged.', code: 403, metadata: { reasons: ['violence'] } },
      'request',
      { ...nothing, message: 'Flagged.' },
    ],
    [
      'that our account has no credit',
      { message: 'Your credit balance is too low.', code: 'insufficient_quota' },
      'hub',
      null,
    ],
    ['that our key is at fault', { message: 'Incorrect API key provided.', code: 401 }, 'hub', null],
    ['nothing', {}, 'hub', null],
  ])('by an event that says %s', async (_, said, by, hub_error) => {
    expect((await broken(error(said))).end).toMatchObject({ kind: 'broke_off', by, hub_error });
  });

  it.each([
    ['a key', `Key ${KEY} is overloaded`],
    ['a masked key', 'Key sk-one-****02aa is overloaded'],
    ['an organisation', 'org-AbCdEf0123456789 has too many requests'],
    ['an address', 'upstream http://10.0.0.7:8000/v1 went away'],
  ])('shows no message that names %s', async (_, message) => {
    const { end } = await broken(error({ message, code: 'server_error' }));
    expect(end).toMatchObject({ by: 'hub', hub_error: { ...nothing, code: 'server_error', message: null } });
  });
});

const habits = Object.entries<EndHabit>(endHabits);
const whole = new Map([
  ['dev/odd-finish-reason', 'stop'],
  ['dev/anthropic-finish-reason', 'stop'],
]);

describe.each(habits)('%s', (name, habit) => {
  it('streamed: broken, or ended by a word of the API', async () => {
    const { end, finish_reason, content } = await broken(habit.stream, habit.cuts ? cut : ended);
    expect([content, finish_reason]).toEqual(['One two ', whole.get(name) ?? null]);
    expect(end).toMatchObject(whole.has(name) ? WHOLE : { kind: 'broke_off', by: 'hub' });
  });

  it.runIf(habit.whole)('whole: an answer that ended by a word of the API, or none', () => {
    const read = chatQuestion(request).read(Buffer.from(habit.whole ?? ''));
    if (whole.has(name)) expect(read).toMatchObject({ choices: [{ finish_reason: whole.get(name) }] });
    else expect(read).toBeNull();
  });
});

it('what OpenRouter and OpenAI say in place of a chunk is passed on', async () => {
  const { end } = await broken(endHabits['dev/ends-with-error-event'].stream);
  const hub_error = { ...nothing, code: 'server_error', message: 'Provider disconnected' };
  expect(end).toMatchObject({ kind: 'broke_off', hub_error });
  const bare = await broken(endHabits['dev/ends-with-bare-error'].stream);
  expect(bare.end).toMatchObject({
    hub_error: {
      type: 'server_error',
      message: 'The server had an error while processing your request. Sorry about that!',
    },
  });
});

describe('a finish reason', () => {
  it.each(finishReasons)('%s is kept', reason => {
    expect(finishReasonOf(reason)).toBe(reason);
  });

  it.each([
    ['eos', 'stop'],
    ['STOP', 'stop'],
    ['end_turn', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['model_length', 'length'],
    ['tool_use', 'tool_calls'],
    ['SAFETY', 'content_filter'],
    ['a word of tomorrow', 'stop'],
    ['constructor', 'stop'],
    ['error', 'broke_off'],
    ['abort', 'broke_off'],
    ['', null],
    [null, null],
  ])('%s means %s', (said, meant) => {
    expect(finishReasonOf(said)).toBe(meant);
  });
});

it('an answer that was kept before it said why is known for broken by the mark that it has', () => {
  const message = { role: 'assistant' as const, content: 'One ' };
  const chat: KeptChat = { id: 'x', created: 1, model: 'm', hub: 'h', choices: [], usage: null };
  const ended = (finish_reason: string) => chatEndOf({ ...chat, choices: [{ index: 0, message, finish_reason }] });
  const broke_off = { kind: 'broke_off', by: 'hub', hub_error: null };
  expect(ended('error')).toEqual(broke_off);
  expect(ended('stop')).toEqual(WHOLE);
  const response: KeptResponse = { id: 'x', created_at: 1, model: 'm', hub: 'h', output: [], fault: null, usage: null };
  const faulty = (code: 'server_error' | 'content_filter') =>
    responseEndOf({ ...response, fault: { code, message: 'It ended.' } });
  expect(faulty('server_error')).toEqual(broke_off);
  expect([responseEndOf(response), faulty('content_filter')]).toEqual([WHOLE, WHOLE]);
});

it.each([null, { ...nothing, code: 'overloaded', message: 'Overloaded.' }])(
  'how an answer ended is kept in the form that former versions kept, and read from it: %j',
  hub_error => {
    expect(keptEnd(WHOLE)).toEqual({});
    for (const by of ['hub', 'request', 'limit', 'stop'] as const) {
      const end = { kind: 'broke_off', by, hub_error } as const;
      expect(keptEnd(end)).toEqual({ broke_off: { by, hub_error } });
      expect(endOf(keptEnd(end))).toEqual(end);
    }
  },
);
