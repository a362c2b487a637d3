import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { WHOLE } from '../../../../subgraphs/answer-end.ts';
import { systemClock } from '../../../../subgraphs/clock.ts';
import { candidatesFor } from '../../../../subgraphs/receipt/inference/catalogue.ts';
import { type HubOptions, type Hubs, openHubs } from '../../../../subgraphs/receipt/inference/hubs/open.ts';
import type { OpenReply } from '../../../../subgraphs/receipt/inference/hubs/stream.ts';
import { gathered } from '../../../harness/gather.ts';
import { type HubServer, hubServer } from '../../../harness/receipt/inference/hub-server.ts';

type Behaviour = (response: ServerResponse) => void;

const request = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5, temperature: null };
const bounds: HubOptions = {
  clock: systemClock,
  timeout_ms: 300,
  stream_ms_max: 600,
  answer_bytes_max: 1_000,
  event_chars_max: 4_000,
};
const until_ms = Number.MAX_SAFE_INTEGER;

const delta = (content: unknown, finish_reason: string | null = null) => ({
  id: 'of-the-hub',
  system_fingerprint: 'fp',
  choices: [{ index: 0, delta: { role: 'assistant', content, refusal: null }, finish_reason, logprobs: null }],
});
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const event = (data: unknown) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const spoken = [delta(''), delta('Hel'), delta('lo'), delta(null, 'stop')].map(event).join('');
const sparse = [{ content: 'Hel' }, { content: 'lo' }, {}]
  .map((said, at) => event({ choices: [{ index: null, delta: said, ...(at === 2 ? { finish_reason: 'stop' } : {}) }] }))
  .join('');
const usageAtEnd = event({ choices: [], usage });

/** Says so much, and then does as told. */
const says =
  (text: string | Uint8Array, then: Behaviour = response => response.end()): Behaviour =>
  response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text, () => then(response));
  };
const hangs: Behaviour = () => {};
const cuts: Behaviour = response => void response.destroy();

async function streamed<T>(
  servers: readonly HubServer[],
  use: (hubs: Hubs) => Promise<T>,
  options: Partial<HubOptions> = {},
): Promise<T> {
  const hubs = openHubs(
    servers.map(({ base_url }, index) => ({ name: `hub-${index}`, base_url, api_key: 'k', models: ['m'] })),
    { ...bounds, ...options },
  );
  try {
    return await use(hubs);
  } finally {
    await hubs.close();
  }
}

const ask = (hubs: Hubs) => hubs.stream(request, { candidates: candidatesFor(hubs.settings, 'svc/auto'), until_ms });

async function listening(hubs: Hubs): Promise<OpenReply> {
  const outcome = await ask(hubs);
  if (outcome.kind === 'failed') throw new Error(JSON.stringify(outcome.attempts));
  return outcome.listening;
}

/** Everything that a hub says, as it is heard. */
async function heard(behaviour: Behaviour) {
  await using hub = await hubServer(behaviour);
  return await streamed([hub], async hubs => {
    const speech = await listening(hubs);
    const pieces = await gathered(speech.pieces);
    return { pieces, ...saidBy(speech) };
  });
}

function saidBy(speech: OpenReply) {
  const { message, began: _, reasoning_text: __, ...spoken } = speech.reply();
  return { text: message.content, ...spoken };
}

describe('a hub that streams', () => {
  const spoke = { pieces: ['Hel', 'lo'], text: 'Hello', finish_reason: 'stop' };
  const whole = { ...spoke, blocks: null, end: WHOLE, answered_model: null };

  it('is heard piece by piece, with its usage', async () => {
    expect(await heard(says(spoken + usageAtEnd + event('[DONE]')))).toEqual({ ...whole, usage });
  });

  it.each<[string, Behaviour]>([
    ['without usage', says(spoken + event('[DONE]'))],
    ['without [DONE], having named its reason', says(spoken)],
    ['cut off after its reason', says(spoken, cuts)],
    ['hanging after its reason', says(spoken, hangs)],
    ['with nonsense after its reason', says(spoken + event('{{{'))],
    ['with comments and other fields', says(`: processing\n\nevent: x\n${spoken}`)],
    ['with a chunk without choices first', says(event({ choices: [] }) + spoken)],
    ['without index, role, id and [DONE]', says(sparse)],
    ['with an empty reason until it has one', says(spoken.replaceAll('"finish_reason":null', '"finish_reason":""'))],
  ])('is whole %s', async (_, behaviour) => {
    expect(await heard(behaviour)).toEqual({ ...whole, usage: null });
  });

  it.each<[string, string, unknown]>([
    ['an empty text that ended by itself', 'stop', ''],
    ['no text, since its tokens were used up', 'length', null],
    ['no text, since it was withheld', 'content_filter', null],
  ])('may have nothing to say: %s', async (_, reason, content) => {
    const all = await heard(says(event(delta(content, reason)) + event('[DONE]')));
    expect(all).toMatchObject({ pieces: [], text: '', finish_reason: reason, end: WHOLE });
  });

  it.each<[string, readonly unknown[], string | null]>([
    ['by its first chunk that has one', ['', undefined, 'm-2024-08-06', 'later'], 'm-2024-08-06'],
    ['by no chunk', [undefined, null, ''], null],
    ['by something that is no text', [7, { id: 'm' }], null],
    ['by an id that is too long to be one', ['x'.repeat(201)], null],
    ['by its own key', ['model-of-sk-one-4f1b7c9d02aa'], null],
  ])('is known for the model that it names: %s', async (_, named, answered_model) => {
    const chunks = named.map(model => event({ ...delta('Hi'), model }));
    await using hub = await hubServer(says(chunks.join('') + event(delta(null, 'stop'))));
    const settings = [{ name: 'one', base_url: hub.base_url, api_key: 'sk-one-4f1b7c9d02aa', models: ['m'] }];
    const hubs = openHubs(settings, bounds);
    const speech = await listening(hubs);
    await gathered(speech.pieces);
    await hubs.close();
    expect(speech.reply()).toMatchObject({ answered_model, end: WHOLE });
  });

  it('that has nothing to say is answered with its reason, though it goes on to say nothing', async () => {
    await using hub = await hubServer(says(event(delta(null, 'length')), hangs));
    await streamed(
      [hub],
      async hubs => {
        const speech = await listening(hubs);
        expect(saidBy(speech)).toMatchObject({ finish_reason: 'length', end: WHOLE });
        speech.cancel();
        expect(await gathered(speech.pieces)).toEqual([]);
      },
      { timeout_ms: 60_000, stream_ms_max: 60_000 },
    );
  });

  it('begins with what it thinks', async () => {
    const thinks = { choices: [{ delta: { reasoning_content: 'Hm' } }] };
    const all = await heard(says(event(thinks) + spoken));
    expect(all).toMatchObject({
      pieces: [{ reasoning: { reasoning_content: 'Hm' }, text: 'Hm' }, 'Hel', 'lo'],
      text: 'Hello',
      end: WHOLE,
    });
  });

  it('is asked for usage, by known members and its own key alone', async () => {
    await using hub = await hubServer(says(spoken));
    await streamed([hub], ask);
    const [question] = hub.heard;
    expect(question?.body).toEqual({
      model: 'm',
      messages: request.messages,
      max_tokens: 5,
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(question?.headers).toMatchObject({ accept: 'text/event-stream', authorization: 'Bearer k' });
  });

  it('may cut a character in two, by bytes or by surrogates', async () => {
    const smile = JSON.stringify({ choices: [{ delta: { content: '😀' } }] });
    const bytes = new TextEncoder().encode(event(smile));
    const half = bytes.indexOf(0xf0) + 2;
    const byBytes: Behaviour = response => {
      response.writeHead(200).write(bytes.subarray(0, half));
      setImmediate(() => response.end(Buffer.concat([bytes.subarray(half), Buffer.from(event('[DONE]'))])));
    };
    expect(await heard(byBytes)).toMatchObject({ text: '😀', pieces: ['😀'] });
    const halves = ['a\ud83d', '\ude00b', '\ude00'].map(content => event(delta(content))).join('');
    expect(await heard(says(halves + event('[DONE]')))).toMatchObject({
      text: 'a😀b\ufffd',
      pieces: ['a', '😀b', '\ufffd'],
    });
  });
});

const first = event(delta('Hel'));

describe('a hub that breaks off', () => {
  it.each<[string, Behaviour]>([
    ['cut_off', says(first + event('[DONE]'))],
    ['cut_off', says(first, cuts)],
    ['cut_off', says(first)],
    ['cut_off', says(`${first}data: {"choices":[]}`)],
    ['timeout', says(first, hangs)],
    ['not_json', says(`${first}${event('{"choices":[')}`)],
    ['not_json', says(first, response => setTimeout(() => response.end(Buffer.from([0x64, 0xff])), 50))],
    ['not_a_chunk', says(`${first}${event({ error: { message: 'overloaded' } })}`)],
    ['not_a_chunk', says(`${first}${event({ error: { message: 'overloaded' }, choices: [] })}`)],
    ['not_a_chunk', says(`${first}${event({ choices: [{ index: 1, delta: { content: 'x' } }] })}`)],
    ['not_a_chunk', says(`${first}${event({ choices: [{ delta: { content: 7 } }] })}`)],
    ['too_large', says(`${first}${event(delta('x'.repeat(1_000)))}`)],
    ['too_large', says(`${first}data: ${'x'.repeat(8_000)}`, hangs)],
  ])('by %s is heard as far as it came', async (reason, behaviour) => {
    const end = { kind: 'broke_off', reason };
    expect(await heard(behaviour)).toMatchObject({ pieces: ['Hel'], text: 'Hel', finish_reason: null, end });
  });

  it.each<[string, string]>([
    ['that it failed', event(delta('', 'error'))],
    ['that it ended by itself, having only thought', ''],
  ])('by saying %s is heard as far as it came', async (_, failing) => {
    const thinks = event({ choices: [{ delta: { reasoning: 'Hm' } }] });
    const stops = event({ choices: [{ delta: {}, finish_reason: 'stop' }] });
    const all = await heard(says(failing === '' ? thinks + stops : first + failing));
    expect(all).toMatchObject({ end: { kind: 'broke_off', reason: 'not_a_completion' } });
    expect(all.pieces).toHaveLength(1);
  });

  it('by silence is not listened to until the time for the whole stream is over', async () => {
    await using hub = await hubServer(says(first, hangs));
    const bounded = { stream_ms_max: 3_600_000, stream_idle_ms_max: 200 };
    const all = await streamed(
      [hub],
      async hubs => {
        const speech = await listening(hubs);
        return { pieces: await gathered(speech.pieces), ...saidBy(speech) };
      },
      bounded,
    );
    expect(all).toMatchObject({ pieces: ['Hel'], end: { kind: 'broke_off', reason: 'timeout' } });
  });

  it('rests: the next call asks the other one first', async () => {
    await using bad = await hubServer(says(first, cuts));
    await using good = await hubServer(says(spoken));
    await streamed([bad, good], async hubs => {
      const speech = await listening(hubs);
      await gathered(speech.pieces);
      speech.reply();
      expect(await ask(hubs)).toMatchObject({ hub: 'hub-1' });
    });
  });
});

/** Ways to fail before the first piece. */
const silent: readonly [string, Behaviour][] = [
  ['timeout', hangs],
  ['timeout', says(': processing\n\n', hangs)],
  ['timeout', says(event(delta('')), hangs)],
  ['status_503', response => void response.writeHead(503).end()],
  ['unreachable', cuts],
  ['cut_off', says(event(delta('')), cuts)],
  ['cut_off', says('')],
  ['cut_off', says(event({ choices: [] }) + event('[DONE]'))],
  ['cut_off', says(event(delta('')) + event('[DONE]'))],
  ['cut_off', says(`: processing\n\n${event(delta(null))}: processing\n\n`)],
  ['not_a_completion', says(event(delta(null, 'stop')) + event('[DONE]'))],
  ['not_a_completion', says(event(delta('', 'tool_calls')) + event('[DONE]'))],
  ['not_a_completion', says(event(delta('', 'error')))],
  ['cut_off', says(JSON.stringify(delta('a whole answer')))],
  ['not_json', says(event('{'))],
  ['not_a_chunk', says(event({ error: { message: 'overloaded' } }))],
  ['too_large', says(`data: ${'x'.repeat(8_000)}`, hangs)],
];

describe('a hub that fails before its first piece', () => {
  it.each(silent)('by %s is passed over for the next', async (_, behaviour) => {
    await using bad = await hubServer(behaviour);
    await using good = await hubServer(says(spoken));
    expect(await streamed([bad, good], ask)).toMatchObject({ kind: 'answered', hub: 'hub-1' });
  });

  it.each(silent)('by %s is named when there is no other', async (reason, behaviour) => {
    await using bad = await hubServer(behaviour);
    expect(await streamed([bad], ask)).toMatchObject({ kind: 'failed', attempts: [{ hub: 'hub-0', reason }] });
  });
});

describe('a listener', () => {
  it('that cancels ends the pieces, and the hub is hung up on', async () => {
    const gone = Promise.withResolvers<void>();
    await using hub = await hubServer(says(first, response => void response.once('close', () => gone.resolve())));
    await streamed([hub], async hubs => {
      const speech = await listening(hubs);
      speech.cancel();
      expect(await gathered(speech.pieces)).toEqual(['Hel']);
      expect(saidBy(speech)).toMatchObject({ text: 'Hel', end: { kind: 'broke_off', reason: 'cancelled' } });
      await gone.promise;
    });
  });

  it('whose buyer lets go before a first piece: the hub is hung up on, and no other is asked', async () => {
    const gone = Promise.withResolvers<void>();
    const canceling = new AbortController();
    await using hub = await hubServer(response => {
      response.once('close', () => gone.resolve());
      canceling.abort();
    });
    await using other = await hubServer(says(first));
    await streamed([hub, other], async hubs => {
      const candidates = candidatesFor(hubs.settings, 'svc/auto');
      const heard = await hubs.stream(request, { candidates, until_ms, canceled: canceling.signal });
      expect(heard).toMatchObject({ kind: 'failed', attempts: [{ reason: 'cancelled' }] });
      expect(await hubs.stream(request, { candidates, until_ms, canceled: canceling.signal })).toEqual({
        kind: 'failed',
        attempts: [],
      });
      await gone.promise;
      expect(other.heard).toEqual([]);
    });
  });

  it('is given no more time than the work has', async () => {
    await using hub = await hubServer(hangs);
    await streamed([hub], async hubs => {
      const candidates = candidatesFor(hubs.settings, 'svc/auto');
      const late = await hubs.stream(request, { candidates, until_ms: systemClock.now_ms() - 1 });
      expect(late).toEqual({ kind: 'failed', attempts: [] });
      expect(hub.heard).toEqual([]);
    });
  });
});
