import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { WHOLE } from '../../../../subgraphs/answer-end.ts';
import { systemClock } from '../../../../subgraphs/clock.ts';
import { candidatesFor } from '../../../../subgraphs/receipt/inference/catalogue.ts';
import { type HubOptions, type Hubs, openHubs } from '../../../../subgraphs/receipt/inference/hubs/open.ts';
import type { OpenReply } from '../../../../subgraphs/receipt/inference/hubs/stream.ts';
import { gather } from '../../../harness/gather.ts';
import { type HubServer, openHubServer } from '../../../harness/receipt/inference/hub-server.ts';

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
const helloStream = [delta(''), delta('Hel'), delta('lo'), delta(null, 'stop')].map(event).join('');
const sparse = [{ content: 'Hel' }, { content: 'lo' }, {}]
  .map((said, at) => event({ choices: [{ index: null, delta: said, ...(at === 2 ? { finish_reason: 'stop' } : {}) }] }))
  .join('');
const usageAtEnd = event({ choices: [], usage });

/** Sends this text and then behaves as given. */
const sendThen =
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

/** The complete answer of a hub, with its pieces in the order of arrival. */
async function readStream(behaviour: Behaviour) {
  await using hub = await openHubServer(behaviour);
  return await streamed([hub], async hubs => {
    const speech = await listening(hubs);
    const pieces = await gather(speech.pieces);
    return { pieces, ...replyOf(speech) };
  });
}

function replyOf(speech: OpenReply) {
  const { message, began: _, reasoning_text: __, ...spoken } = speech.reply();
  return { text: message.content, ...spoken };
}

describe('a hub that streams', () => {
  const spoke = { pieces: ['Hel', 'lo'], text: 'Hello', finish_reason: 'stop' };
  const whole = { ...spoke, blocks: null, end: WHOLE, answered_model: null };

  it('is heard piece by piece, with its usage', async () => {
    expect(await readStream(sendThen(helloStream + usageAtEnd + event('[DONE]')))).toEqual({ ...whole, usage });
  });

  it.each<[string, Behaviour]>([
    ['without usage', sendThen(helloStream + event('[DONE]'))],
    ['without [DONE], having named its reason', sendThen(helloStream)],
    ['cut off after its reason', sendThen(helloStream, cuts)],
    ['hanging after its reason', sendThen(helloStream, hangs)],
    ['with nonsense after its reason', sendThen(helloStream + event('{{{'))],
    ['with comments and other fields', sendThen(`: processing\n\nevent: x\n${helloStream}`)],
    ['with a chunk without choices first', sendThen(event({ choices: [] }) + helloStream)],
    ['without index, role, id and [DONE]', sendThen(sparse)],
    [
      'with an empty reason until it has one',
      sendThen(helloStream.replaceAll('"finish_reason":null', '"finish_reason":""')),
    ],
  ])('is whole %s', async (_, behaviour) => {
    expect(await readStream(behaviour)).toEqual({ ...whole, usage: null });
  });

  it.each<[string, string, unknown]>([
    ['an empty text that ended by itself', 'stop', ''],
    ['no text, since its tokens were used up', 'length', null],
    ['no text, since it was withheld', 'content_filter', null],
  ])('may have nothing to say: %s', async (_, reason, content) => {
    const all = await readStream(sendThen(event(delta(content, reason)) + event('[DONE]')));
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
    await using hub = await openHubServer(sendThen(chunks.join('') + event(delta(null, 'stop'))));
    const settings = [{ name: 'one', base_url: hub.base_url, api_key: 'sk-one-4f1b7c9d02aa', models: ['m'] }];
    const hubs = openHubs(settings, bounds);
    const speech = await listening(hubs);
    await gather(speech.pieces);
    await hubs.close();
    expect(speech.reply()).toMatchObject({ answered_model, end: WHOLE });
  });

  it('that has nothing to say is answered with its reason, though it goes on to say nothing', async () => {
    await using hub = await openHubServer(sendThen(event(delta(null, 'length')), hangs));
    await streamed(
      [hub],
      async hubs => {
        const speech = await listening(hubs);
        expect(replyOf(speech)).toMatchObject({ finish_reason: 'length', end: WHOLE });
        speech.cancel();
        expect(await gather(speech.pieces)).toEqual([]);
      },
      { timeout_ms: 60_000, stream_ms_max: 60_000 },
    );
  });

  it('begins with what it thinks', async () => {
    const thinks = { choices: [{ delta: { reasoning_content: 'Hm' } }] };
    const all = await readStream(sendThen(event(thinks) + helloStream));
    expect(all).toMatchObject({
      pieces: [{ reasoning: { reasoning_content: 'Hm' }, text: 'Hm' }, 'Hel', 'lo'],
      text: 'Hello',
      end: WHOLE,
    });
  });

  it('is asked for usage, by known members and its own key alone', async () => {
    await using hub = await openHubServer(sendThen(helloStream));
    await streamed([hub], ask);
    const [question] = hub.received;
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
    expect(await readStream(byBytes)).toMatchObject({ text: '😀', pieces: ['😀'] });
    const halves = ['a\ud83d', '\ude00b', '\ude00'].map(content => event(delta(content))).join('');
    expect(await readStream(sendThen(halves + event('[DONE]')))).toMatchObject({
      text: 'a😀b\ufffd',
      pieces: ['a', '😀b', '\ufffd'],
    });
  });
});

const first = event(delta('Hel'));

describe('a hub that breaks off', () => {
  it.each<[string, Behaviour]>([
    ['cut_off', sendThen(first + event('[DONE]'))],
    ['cut_off', sendThen(first, cuts)],
    ['cut_off', sendThen(first)],
    ['cut_off', sendThen(`${first}data: {"choices":[]}`)],
    ['timeout', sendThen(first, hangs)],
    ['not_json', sendThen(`${first}${event('{"choices":[')}`)],
    ['not_json', sendThen(first, response => setTimeout(() => response.end(Buffer.from([0x64, 0xff])), 50))],
    ['not_a_chunk', sendThen(`${first}${event({ error: { message: 'overloaded' } })}`)],
    ['not_a_chunk', sendThen(`${first}${event({ error: { message: 'overloaded' }, choices: [] })}`)],
    ['not_a_chunk', sendThen(`${first}${event({ choices: [{ index: 1, delta: { content: 'x' } }] })}`)],
    ['not_a_chunk', sendThen(`${first}${event({ choices: [{ delta: { content: 7 } }] })}`)],
    ['too_large', sendThen(`${first}${event(delta('x'.repeat(1_000)))}`)],
    ['too_large', sendThen(`${first}data: ${'x'.repeat(8_000)}`, hangs)],
  ])('by %s is heard as far as it came', async (reason, behaviour) => {
    const end = { kind: 'broke_off', reason };
    expect(await readStream(behaviour)).toMatchObject({ pieces: ['Hel'], text: 'Hel', finish_reason: null, end });
  });

  it.each<[string, string]>([
    ['that it failed', event(delta('', 'error'))],
    ['that it ended by itself, having only thought', ''],
  ])('by saying %s is heard as far as it came', async (_, failing) => {
    const thinks = event({ choices: [{ delta: { reasoning: 'Hm' } }] });
    const stops = event({ choices: [{ delta: {}, finish_reason: 'stop' }] });
    const all = await readStream(sendThen(failing === '' ? thinks + stops : first + failing));
    expect(all).toMatchObject({ end: { kind: 'broke_off', reason: 'not_a_completion' } });
    expect(all.pieces).toHaveLength(1);
  });

  it('by silence is not listened to until the time for the whole stream is over', async () => {
    await using hub = await openHubServer(sendThen(first, hangs));
    const bounded = { stream_ms_max: 3_600_000, stream_idle_ms_max: 200 };
    const all = await streamed(
      [hub],
      async hubs => {
        const speech = await listening(hubs);
        return { pieces: await gather(speech.pieces), ...replyOf(speech) };
      },
      bounded,
    );
    expect(all).toMatchObject({ pieces: ['Hel'], end: { kind: 'broke_off', reason: 'timeout' } });
  });

  it('rests: the next call asks the other one first', async () => {
    await using bad = await openHubServer(sendThen(first, cuts));
    await using good = await openHubServer(sendThen(helloStream));
    await streamed([bad, good], async hubs => {
      const speech = await listening(hubs);
      await gather(speech.pieces);
      speech.reply();
      expect(await ask(hubs)).toMatchObject({ hub: 'hub-1' });
    });
  });
});

/** Ways in which a hub fails before the first piece. */
const silent: readonly [string, Behaviour][] = [
  ['timeout', hangs],
  ['timeout', sendThen(': processing\n\n', hangs)],
  ['timeout', sendThen(event(delta('')), hangs)],
  ['status_503', response => void response.writeHead(503).end()],
  ['unreachable', cuts],
  ['cut_off', sendThen(event(delta('')), cuts)],
  ['cut_off', sendThen('')],
  ['cut_off', sendThen(event({ choices: [] }) + event('[DONE]'))],
  ['cut_off', sendThen(event(delta('')) + event('[DONE]'))],
  ['cut_off', sendThen(`: processing\n\n${event(delta(null))}: processing\n\n`)],
  ['not_a_completion', sendThen(event(delta(null, 'stop')) + event('[DONE]'))],
  ['not_a_completion', sendThen(event(delta('', 'tool_calls')) + event('[DONE]'))],
  ['not_a_completion', sendThen(event(delta('', 'error')))],
  ['cut_off', sendThen(JSON.stringify(delta('a whole answer')))],
  ['not_json', sendThen(event('{'))],
  ['not_a_chunk', sendThen(event({ error: { message: 'overloaded' } }))],
  ['too_large', sendThen(`data: ${'x'.repeat(8_000)}`, hangs)],
];

describe('a hub that fails before its first piece', () => {
  it.each(silent)('by %s is passed over for the next', async (_, behaviour) => {
    await using bad = await openHubServer(behaviour);
    await using good = await openHubServer(sendThen(helloStream));
    expect(await streamed([bad, good], ask)).toMatchObject({ kind: 'answered', hub: 'hub-1' });
  });

  it.each(silent)('by %s is named when there is no other', async (reason, behaviour) => {
    await using bad = await openHubServer(behaviour);
    expect(await streamed([bad], ask)).toMatchObject({ kind: 'failed', attempts: [{ hub: 'hub-0', reason }] });
  });
});

describe('a listener', () => {
  it('that cancels ends the pieces, and the hub is hung up on', async () => {
    const gone = Promise.withResolvers<void>();
    await using hub = await openHubServer(
      sendThen(first, response => void response.once('close', () => gone.resolve())),
    );
    await streamed([hub], async hubs => {
      const speech = await listening(hubs);
      speech.cancel();
      expect(await gather(speech.pieces)).toEqual(['Hel']);
      expect(replyOf(speech)).toMatchObject({ text: 'Hel', end: { kind: 'broke_off', reason: 'cancelled' } });
      await gone.promise;
    });
  });

  it('whose buyer lets go before a first piece: the hub is hung up on, and no other is asked', async () => {
    const gone = Promise.withResolvers<void>();
    const canceling = new AbortController();
    await using hub = await openHubServer(response => {
      response.once('close', () => gone.resolve());
      canceling.abort();
    });
    await using other = await openHubServer(sendThen(first));
    await streamed([hub, other], async hubs => {
      const candidates = candidatesFor(hubs.settings, 'svc/auto');
      const heard = await hubs.stream(request, { candidates, until_ms, canceled: canceling.signal });
      expect(heard).toMatchObject({ kind: 'failed', attempts: [{ reason: 'cancelled' }] });
      expect(await hubs.stream(request, { candidates, until_ms, canceled: canceling.signal })).toEqual({
        kind: 'failed',
        attempts: [],
      });
      await gone.promise;
      expect(other.received).toEqual([]);
    });
  });

  it('is given no more time than the work has', async () => {
    await using hub = await openHubServer(hangs);
    await streamed([hub], async hubs => {
      const candidates = candidatesFor(hubs.settings, 'svc/auto');
      const late = await hubs.stream(request, { candidates, until_ms: systemClock.now_ms() - 1 });
      expect(late).toEqual({ kind: 'failed', attempts: [] });
      expect(hub.received).toEqual([]);
    });
  });
});
