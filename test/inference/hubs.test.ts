import { describe, expect, test } from 'vitest';
import { systemClock } from '../../subgraphs/clock.ts';
import type { HubSettings } from '../../subgraphs/receipt/inference/catalogue.ts';
import { candidatesFor } from '../../subgraphs/receipt/inference/catalogue.ts';
import { type Hubs, openHubs } from '../../subgraphs/receipt/inference/hubs/open.ts';
import { answering, completion, failures, hubServer } from './hub-server.ts';

const request = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5, temperature: null };
const bounds = { clock: systemClock, timeout_ms: 300, answer_bytes_max: 1024 * 1024 };

function hub(name: string, base_url: string): HubSettings {
  return { name, base_url, api_key: `key-of-${name}`, models: [`${name}-model`] };
}

async function opened<T>(settings: HubSettings[], use: (hubs: Hubs) => Promise<T>): Promise<T> {
  const hubs = openHubs(settings, bounds);
  try {
    return await use(hubs);
  } finally {
    await hubs.close();
  }
}

/** Longer than any test takes: what bounds a call here is the hub's own time. */
const until_ms = Number.MAX_SAFE_INTEGER;
const asking = (hubs: Hubs, model = 'svc/auto') => ({ candidates: candidatesFor(hubs.settings, model), until_ms });
const auto = (hubs: Hubs) => hubs.complete(request, asking(hubs));

describe('a hub that fails', () => {
  test.each(failures)('by %s is passed over for the next, and the answer says whose it is', async (_reason, behave) => {
    await using bad = await hubServer(behave);
    await using good = await hubServer(answering(completion));
    const outcome = await opened([hub('bad', bad.base_url), hub('good', good.base_url)], auto);
    expect(outcome).toMatchObject({ kind: 'answered', hub: 'good', model: 'good-model' });
    expect(bad.heard).toHaveLength(1);
  });

  test.each(failures)('by %s is named when there is no other', async (reason, behave) => {
    await using bad = await hubServer(behave);
    const outcome = await opened([hub('bad', bad.base_url)], auto);
    expect(outcome).toEqual({ kind: 'failed', attempts: [{ hub: 'bad', reason }] });
  });

  test('is not there at all: unreachable', async () => {
    const outcome = await opened([hub('gone', 'http://127.0.0.1:1/v1')], auto);
    expect(outcome).toEqual({ kind: 'failed', attempts: [{ hub: 'gone', reason: 'unreachable' }] });
  });

  test('rests: the next call asks the other one first, and this one still when it is the last', async () => {
    await using bad = await hubServer(response => void response.writeHead(500).end());
    await using good = await hubServer(answering(completion));
    await opened([hub('bad', bad.base_url), hub('good', good.base_url)], async hubs => {
      await auto(hubs);
      await auto(hubs);
      expect([bad.heard.length, good.heard.length]).toEqual([1, 2]);
      await hubs.complete(request, asking(hubs, 'bad-model'));
      expect(bad.heard).toHaveLength(2);
    });
  });

  test('refuses the request itself: it is not sent to rest by what a caller asks', async () => {
    await using picky = await hubServer(response => void response.writeHead(400).end());
    await using good = await hubServer(answering(completion));
    await opened([hub('picky', picky.base_url), hub('good', good.base_url)], async hubs => {
      await auto(hubs);
      await auto(hubs);
      expect(picky.heard).toHaveLength(2);
    });
  });
});

describe('what crosses to a hub and back', () => {
  test('the hub sees its own key, its own model id and the known fields, and nothing of the caller', async () => {
    await using one = await hubServer(answering(completion));
    const full = { ...request, temperature: 0.5, intent_id: 'secret', user: 'me', stream: true, model: 'svc/auto' };
    await opened([hub('one', one.base_url)], hubs => hubs.complete(full, asking(hubs)));
    const [heard] = one.heard;
    expect(heard?.path).toBe('/v1/chat/completions');
    expect(heard?.body).toEqual({ model: 'one-model', messages: request.messages, max_tokens: 5, temperature: 0.5 });
    expect(Object.keys(heard?.headers ?? {}).sort()).toEqual(
      ['accept', 'authorization', 'connection', 'content-length', 'content-type', 'host'].sort(),
    );
    expect(heard?.headers.authorization).toBe('Bearer key-of-one');
  });

  test('the answer is copied member by member; what else the hub says stays behind', async () => {
    await using one = await hubServer(answering(completion));
    const outcome = await opened([hub('one', one.base_url)], auto);
    expect(outcome).toEqual({
      kind: 'answered',
      hub: 'one',
      model: 'one-model',
      completion: {
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
      },
    });
  });

  test('a hub that does not count is believed without usage', async () => {
    await using one = await hubServer(answering({ choices: completion.choices }));
    expect(await opened([hub('one', one.base_url)], auto)).toMatchObject({ completion: { usage: null } });
  });
});
