import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../../schema/limits.ts';
import { Secret } from '../../../../schema/secret.ts';
import { systemClock } from '../../../../subgraphs/clock.ts';
import type { Context } from '../../../../subgraphs/context.ts';
import { admitRoute, routeOf } from '../../../../subgraphs/receipt/inference/answer.paid.ts';
import { chatQuestion } from '../../../../subgraphs/receipt/inference/hubs/chat.ts';
import { type Hubs, openHubs } from '../../../../subgraphs/receipt/inference/hubs/open.ts';
import { RouterModels } from '../../../../subgraphs/receipt/inference/hubs/router.ts';
import { answerWith, completion, openHubServer } from '../../../harness/receipt/inference/hub-server.ts';

const KEY = 'sk-of-the-caller';
const request = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5, temperature: null };
const until_ms = Number.MAX_SAFE_INTEGER;
const callerWith = (router_key: Secret | null) => ({ router_key }) as Context;
const caller = callerWith(new Secret(KEY));

async function routing<T>(behaviour: (response: ServerResponse) => void, use: (hubs: Hubs) => Promise<T>) {
  await using router = await openHubServer(behaviour);
  await using hub = await openHubServer(answerWith(completion));
  const settings = [{ name: 'one', base_url: hub.base_url, api_key: 'key-of-one', models: ['m'] }];
  const hubs = openHubs(settings, { clock: systemClock, router: { base_url: router.base_url, models: ['listed'] } });
  try {
    const of_use = await use(hubs);
    return { of_use, router: router.received.filter(({ path }) => path !== '/v1/models'), hub: hub.received };
  } finally {
    await hubs.close();
  }
}

const askRouter = (hubs: Hubs, model = 'router/a/b') =>
  hubs.put(chatQuestion(request), { ...routeOf(hubs, { model }, 'text', caller), until_ms });

describe('a router/* model', () => {
  it('is asked for at the router, under the name that it has there and the key of whoever asks', async () => {
    const { of_use, router, hub } = await routing(answerWith(completion), askRouter);
    expect(of_use).toMatchObject({ kind: 'answered', hub: 'router', model: 'router/a/b' });
    expect(router).toMatchObject([
      { path: '/v1/chat/completions', headers: { authorization: `Bearer ${KEY}` }, body: { model: 'a/b' } },
    ]);
    expect(hub).toEqual([]);
  });

  it.each([401, 404, 500])('is no hub’s where the router answers %i: it fails, and nobody is blamed', async status => {
    const { of_use, hub } = await routing(
      response => void response.writeHead(status).end(),
      async hubs => {
        const outcomes = [];
        for (let call = 0; call < 6; call++) outcomes.push(await askRouter(hubs));
        return { outcomes, figures: hubs.standings };
      },
    );
    const failed = { kind: 'failed', attempts: [{ hub: 'router', reason: `status_${status}` }] };
    expect(of_use).toMatchObject({ outcomes: Array(6).fill(failed), figures: [] });
    expect(hub).toEqual([]);
  });

  it('needs a key, and a router', async () => {
    const hubs = (routes: boolean) => ({ settings: [], routes }) as unknown as Hubs;
    const route = (model: string, context: Context, routes = true) => routeOf(hubs(routes), { model }, 'text', context);
    expect(() => route('router/x', callerWith(null))).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        extensions: expect.objectContaining({ param: 'X-Router-Key' }),
      }),
    );
    for (const refused of [() => route('router/x', caller, false), () => route('router/', caller)])
      expect(refused).toThrow(expect.objectContaining({ code: 'unknown_model' }));
  });
});

describe('a model that the router does not list', () => {
  const admitted = (body: unknown, model: string) =>
    openHubServer(answerWith(body)).then(async router => {
      const hubs = openHubs([], { clock: systemClock, router: { base_url: router.base_url, models: [] } });
      try {
        return await admitRoute(hubs, { model }, 'text', caller).then(
          () => 'admitted',
          refusal => refusal.code,
        );
      } finally {
        await hubs.close();
        await router[Symbol.asyncDispose]();
      }
    });

  it('is refused before any claim; beyond what is listed publicly too, a listed one is not', async () => {
    const data = Array.from({ length: 2 * limits.router_models_max }, (_, index) => ({ id: `m-${index}` }));
    expect(await admitted({ data }, 'router/untold')).toBe('unknown_model');
    expect(await admitted({ data }, `router/m-${2 * limits.router_models_max - 1}`)).toBe('admitted');
  });

  it.each([
    ['tells nothing', ['a']],
    ['tells none', { data: [] }],
  ])('is asked for where it %s', async (_, body) => {
    expect(await admitted(body, 'router/untold')).toBe('admitted');
  });
});

describe('what the router lists', () => {
  const at = (base_url: string, clock = systemClock) => new RouterModels({ base_url, models: ['configured'] }, clock);

  it('is asked for without any key, and an id that is not valid is left out alone', async () => {
    const data = [
      { id: 'one/a' },
      { id: 7 },
      { id: 'two words' },
      {},
      { id: 'two' },
      { id: 'one/a' },
      { id: 'x'.repeat(200) },
    ];
    await using router = await openHubServer(answerWith({ data }));
    const models = at(router.base_url);
    expect((await models.listed()).ids).toEqual(['router/one/a', 'router/two']);
    expect(router.received).toMatchObject([{ path: '/v1/models' }]);
    expect(router.received[0]?.headers).not.toHaveProperty('authorization');
    await models.close();
  });

  it('is not asked for before anybody wants it', async () => {
    await using router = await openHubServer(answerWith({ data: [] }));
    const models = at(router.base_url);
    // A connection of the test, which is made and answered after any connection that would have requested the list.
    await fetch(router.base_url);
    expect(router.received.map(({ path }) => path)).toEqual(['/v1']);
    await models.listed();
    expect(router.received.map(({ path }) => path)).toEqual(['/v1', '/v1/models']);
    await models.close();
  });

  it('is cut off at so many, and says so; all that it tells are known', async () => {
    const data = Array.from({ length: 2 * limits.router_models_max }, (_, index) => ({ id: `m-${index}` }));
    await using router = await openHubServer(answerWith({ data }));
    const models = at(router.base_url);
    const { ids, more } = await models.listed();
    expect([ids.length, more]).toEqual([limits.router_models_max, true]);
    expect(ids).not.toContain('router/m-999');
    expect([await models.tells('m-999'), await models.tells('m-1000')]).toEqual([true, false]);
    await models.close();
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['it needs a key', response => void response.writeHead(401).end()],
    ['it is broken', response => void response.writeHead(200).end('<html>')],
    ['it lists otherwise', answerWith(['a'])],
    ['it hangs up', response => void response.destroy()],
    ['it pours out too much', response => void response.writeHead(200).end('x'.repeat(5 * 1024 * 1024))],
  ])('is what was configured where %s', async (_, behaviour) => {
    await using router = await openHubServer(behaviour);
    const models = at(router.base_url);
    expect((await models.listed()).ids).toEqual(['router/configured']);
    await models.close();
  });

  it('makes nobody wait for a router that tells nothing, once the first fetch has shown so', async () => {
    let now_ms = 0;
    let behave = (response: ServerResponse) => void response.writeHead(503).end();
    await using router = await openHubServer(response => behave(response));
    const models = at(router.base_url, { now_ms: () => now_ms });
    await models.listed();
    now_ms += limits.router_models_retry_ms;
    behave = () => {};
    const from_ms = performance.now();
    expect((await models.listed()).ids).toEqual(['router/configured']);
    expect(performance.now() - from_ms).toBeLessThan(limits.router_models_wait_ms_max / 2);
    await expect.poll(() => router.received.length).toBe(2);
    await models.close();
  });

  it('is fetched again once it is old, given out as it was meanwhile, and kept when the router is away', async () => {
    let now_ms = 0;
    let behave = answerWith({ data: [{ id: 'old' }] });
    await using router = await openHubServer(response => behave(response));
    const models = at(router.base_url, { now_ms: () => now_ms });
    const times = () => router.received.length;
    for (let ask = 0; ask < 3; ask++) expect((await models.listed()).ids).toEqual(['router/old']);
    expect(times()).toBe(1);

    now_ms += limits.router_models_fresh_ms;
    behave = answerWith({ data: [{ id: 'new' }] });
    expect((await models.listed()).ids).toEqual(['router/old']);
    await expect.poll(async () => (await models.listed()).ids).toEqual(['router/new']);
    expect(times()).toBe(2);

    now_ms += limits.router_models_fresh_ms;
    behave = response => void response.writeHead(503).end();
    expect((await models.listed()).ids).toEqual(['router/new']);
    await expect.poll(times).toBe(3);
    expect((await models.listed()).ids).toEqual(['router/new']);
    await models.close();
  });
});

it('a secret says nothing of itself, unless it is asked to', () => {
  const secret = new Secret(KEY);
  const shown = [
    `${secret}`,
    JSON.stringify({ secret }),
    inspect({ secret }, { depth: 9, showHidden: true }),
    String(secret),
  ];
  for (const text of shown) expect(text).not.toContain(KEY);
  expect(secret.reveal()).toBe(KEY);
});
