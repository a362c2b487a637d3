import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../../schema/limits.ts';
import { systemClock } from '../../../../subgraphs/clock.ts';
import { candidatesFor, type HubSettings } from '../../../../subgraphs/receipt/inference/catalogue.ts';
import { chatQuestion } from '../../../../subgraphs/receipt/inference/hubs/chat.ts';
import { type HubOptions, type Hubs, openHubs } from '../../../../subgraphs/receipt/inference/hubs/open.ts';
import { imageQuestion } from '../../../../subgraphs/receipt/inference/images/image.paid.ts';
import { answerWith, completion, hubFailures, openHubServer } from '../../../harness/receipt/inference/hub-server.ts';

const request = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5, temperature: null };
const bounds: HubOptions = { clock: systemClock, timeout_ms: 300, answer_bytes_max: 1024 * 1024 };

function hub(name: string, base_url: string): HubSettings {
  return { name, base_url, api_key: `key-of-${name}`, models: [`${name}-model`] };
}

async function opened<T>(settings: HubSettings[], use: (hubs: Hubs) => Promise<T>, options = bounds): Promise<T> {
  const hubs = openHubs(settings, options);
  try {
    return await use(hubs);
  } finally {
    await hubs.close();
  }
}

/** Later than any test ends, so that the time limits of the hubs decide. */
const until_ms = Number.MAX_SAFE_INTEGER;
const asking = (hubs: Hubs, model = 'svc/auto') => ({ candidates: candidatesFor(hubs.settings, model), until_ms });
const auto = (hubs: Hubs) => hubs.put(chatQuestion(request), asking(hubs));

describe('an image', () => {
  const image = { b64_json: Buffer.alloc(1_000).toString('base64') };
  const wanted = { model: 'svc/auto', prompt: 'Hi', size: null, response_format: null };
  const question = imageQuestion({ ...wanted, intent_id: null, attempt_index: null });
  const drawing = (base_url: string) => [{ ...hub('one', base_url), image_models: ['drawn'] }];
  const drawn = (hubs: Hubs, asked = question) =>
    hubs.put(asked, { candidates: candidatesFor(hubs.settings, 'drawn', 'image'), until_ms });

  it('may be larger than other answers, and less than what one process answers another', async () => {
    await using artist = await openHubServer(answerWith({ data: [image] }));
    const options = { ...bounds, answer_bytes_max: 100 };
    const outcome = await opened(drawing(artist.base_url), hubs => drawn(hubs), options);
    expect(outcome).toMatchObject({ kind: 'answered' });
    expect(limits.image_answer_bytes_max).toBeLessThan(limits.subgraph_answer_bytes_max);
  });

  it('that is too large is no fault of the hub: nobody sends it to rest by asking for much', async () => {
    await using artist = await openHubServer(answerWith({ data: [image] }));
    await opened(drawing(artist.base_url), async hubs => {
      const attempts = [{ hub: 'one', reason: 'too_large' }];
      for (let call = 0; call < 6; call++)
        expect(await drawn(hubs, { ...question, answer_bytes_max: 100 })).toEqual({ kind: 'failed', attempts });
      expect(hubs.standings).toMatchObject([{ hub: 'one', modality: 'image', health: 1 }]);
    });
  });
});

it('a buyer who lets go: the hub is hung up on, blamed for nothing, and no other is asked', async () => {
  const canceling = new AbortController();
  const gone = Promise.withResolvers<void>();
  await using one = await openHubServer(response => {
    response.once('close', () => gone.resolve());
    canceling.abort();
  });
  await using two = await openHubServer(answerWith(completion));
  await opened([hub('one', one.base_url), hub('two', two.base_url)], async hubs => {
    const outcome = await hubs.put(chatQuestion(request), { ...asking(hubs), canceled: canceling.signal });
    expect(outcome).toEqual({ kind: 'failed', attempts: [{ hub: 'one', reason: 'cancelled' }] });
    await gone.promise;
    expect(two.received).toEqual([]);
    expect(hubs.standings).toMatchObject([{ health: 1 }, { health: 1 }]);
  });
});

describe('a hub that fails', () => {
  it.each(hubFailures)(
    'by %s is passed over for the next, and the answer says whose it is',
    async (_reason, behave) => {
      await using bad = await openHubServer(behave);
      await using good = await openHubServer(answerWith(completion));
      const outcome = await opened([hub('bad', bad.base_url), hub('good', good.base_url)], auto);
      expect(outcome).toMatchObject({ kind: 'answered', hub: 'good', model: 'good-model' });
      expect(bad.received).toHaveLength(1);
    },
  );

  it.each(hubFailures)('by %s is named when there is no other', async (reason, behave) => {
    await using bad = await openHubServer(behave);
    const outcome = await opened([hub('bad', bad.base_url)], auto);
    expect(outcome).toMatchObject({ kind: 'failed', attempts: [{ hub: 'bad', reason }] });
  });

  it('is not there at all: unreachable', async () => {
    const outcome = await opened([hub('gone', 'http://127.0.0.1:1/v1')], auto);
    expect(outcome).toEqual({ kind: 'failed', attempts: [{ hub: 'gone', reason: 'unreachable' }] });
  });

  it('rests: the next call asks the other one first, and this one still when it is the last', async () => {
    await using bad = await openHubServer(response => void response.writeHead(500).end());
    await using good = await openHubServer(answerWith(completion));
    await opened([hub('bad', bad.base_url), hub('good', good.base_url)], async hubs => {
      await auto(hubs);
      await auto(hubs);
      expect([bad.received.length, good.received.length]).toEqual([1, 2]);
      await hubs.put(chatQuestion(request), asking(hubs, 'bad-model'));
      expect(bad.received).toHaveLength(2);
    });
  });

  it('refuses the request itself: it is not sent to rest by what a caller asks', async () => {
    await using picky = await openHubServer(response => void response.writeHead(400).end());
    await using good = await openHubServer(answerWith(completion));
    await opened([hub('picky', picky.base_url), hub('good', good.base_url)], async hubs => {
      await auto(hubs);
      await auto(hubs);
      expect(picky.received).toHaveLength(2);
    });
  });
});

describe('what crosses to a hub and back', () => {
  it('the hub sees its own key, its own model id and the known fields, and nothing of the caller', async () => {
    await using one = await openHubServer(answerWith(completion));
    const full = { ...request, temperature: 0.5, intent_id: 'secret', user: 'me', stream: true, model: 'svc/auto' };
    await opened([hub('one', one.base_url)], hubs => hubs.put(chatQuestion(full), asking(hubs)));
    const [heard] = one.received;
    expect(heard?.path).toBe('/v1/chat/completions');
    expect(heard?.body).toEqual({ model: 'one-model', messages: request.messages, max_tokens: 5, temperature: 0.5 });
    expect(Object.keys(heard?.headers ?? {}).sort()).toEqual(
      ['accept', 'authorization', 'connection', 'content-length', 'content-type', 'host'].sort(),
    );
    expect(heard?.headers.authorization).toBe('Bearer key-of-one');
  });

  it('the answer is copied member by member; what else the hub says stays behind', async () => {
    await using one = await openHubServer(answerWith(completion));
    const outcome = await opened([hub('one', one.base_url)], auto);
    expect(outcome).toEqual({
      kind: 'answered',
      answered_model: 'another-name',
      hub: 'one',
      model: 'one-model',
      value: {
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
        usage: completion.usage,
      },
    });
  });

  it.each([
    ['does not count', {}],
    ['counts what is no number of tokens', { usage: { ...completion.usage, total_tokens: 2 ** 40 } }],
  ])('a hub that %s is believed without usage', async (_, counted) => {
    await using one = await openHubServer(answerWith({ choices: completion.choices, ...counted }));
    expect(await opened([hub('one', one.base_url)], auto)).toMatchObject({ value: { usage: null } });
  });
});

describe('a caller who wants no other', () => {
  it('is failed by the one hub that is asked, and no other is', async () => {
    await using bad = await openHubServer(response => void response.writeHead(500).end());
    await using good = await openHubServer(answerWith(completion));
    await opened([hub('bad', bad.base_url), hub('good', good.base_url)], async hubs => {
      const outcome = await hubs.put(chatQuestion(request), { ...asking(hubs), failover: false });
      expect(outcome).toEqual({ kind: 'failed', attempts: [{ hub: 'bad', reason: 'status_500' }] });
      expect(good.received).toHaveLength(0);
      // The better hub is known by now, so it is called.
      const next = await hubs.put(chatQuestion(request), { ...asking(hubs), failover: false });
      expect(next).toMatchObject({ kind: 'answered', hub: 'good' });
    });
  });
});

describe('a hub that is down', () => {
  const down = (response: ServerResponse) => void response.writeHead(503).end();

  it('is asked in vain a few times, and then by nobody whom another can answer', async () => {
    await using bad = await openHubServer(down);
    await using good = await openHubServer(answerWith(completion));
    const both = ['shared'];
    const settings = [
      { ...hub('bad', bad.base_url), models: both },
      { ...hub('good', good.base_url), models: both },
    ];
    await opened(settings, async hubs => {
      for (let call = 0; call < 20; call++) expect(await auto(hubs)).toMatchObject({ hub: 'good' });
      expect(bad.received).toHaveLength(1);
      expect(hubs.standings).toMatchObject([
        { hub: 'bad', modality: 'text', health: expect.closeTo(0.8, 1), answer_ms: null },
        { hub: 'good', modality: 'text', health: 1, answer_ms: expect.any(Number) },
      ]);
    });
  });

  it('is asked all the same where it is the only one, or the others are down too', async () => {
    let behave: (response: ServerResponse) => void = down;
    await using one = await openHubServer(response => behave(response));
    await using two = await openHubServer(response => behave(response));
    await opened([hub('one', one.base_url), hub('two', two.base_url)], async hubs => {
      for (let call = 0; call < 6; call++) {
        const { attempts } = (await auto(hubs)) as Extract<Awaited<ReturnType<typeof auto>>, { kind: 'failed' }>;
        expect(attempts.map(attempt => attempt.hub).sort()).toEqual(['one', 'two']);
      }
      expect(hubs.standings.map(({ health }) => health)).toEqual([0, 0]);
      behave = answerWith(completion);
      expect(await auto(hubs)).toMatchObject({ kind: 'answered' });
      expect(hubs.standings.map(({ health }) => health).sort()).toEqual([0, expect.any(Number)]);
    });
  });
});

it('whoever finds too many waiting for a hub is answered by the next, and the hub is not blamed', async () => {
  await using slow = await openHubServer(() => {});
  await using good = await openHubServer(answerWith(completion));
  // No time limit ends in this test.
  const hubs = openHubs([hub('slow', slow.base_url), hub('good', good.base_url)], { clock: systemClock });
  const ofSlow = () => hubs.put(chatQuestion(request), asking(hubs, 'slow-model'));
  const crowd = Array.from({ length: limits.hub_connections_max + limits.hub_waiting_max }, ofSlow);
  try {
    expect(await ofSlow()).toEqual({ kind: 'failed', attempts: [{ hub: 'slow', reason: 'busy' }] });
    expect(hubs.waiting).toEqual([
      ['slow', limits.hub_waiting_max],
      ['good', 0],
    ]);
    expect(await auto(hubs)).toMatchObject({ hub: 'good' });
    expect(hubs.standings).toMatchObject([
      { hub: 'slow', health: 1 },
      { hub: 'good', health: 1 },
    ]);
  } finally {
    await hubs.close();
    await Promise.all(crowd);
  }
});
