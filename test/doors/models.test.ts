import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../schema/limits.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { type HubRequest, startTestHub, type TestHub } from '../harness/hub.ts';

let service: Service;
let router: TestHub;
const listing = (...ids: string[]) =>
  ({ kind: 'status', status: 200, body: { data: ids.map(id => ({ id })) } }) as const;

beforeAll(async () => {
  router = await startTestHub({ name: 'router', models: [] });
  router.behave(({ path }: HubRequest) => (path === '/v1/models' ? listing('a/one', 'two') : { kind: 'answer' }));
  service = await openService({ ROUTER_URL: router.base_url }, { media: true });
});
beforeEach(() => router.behave(listing('a/one', 'two')));

interface ModelList {
  readonly data: readonly { readonly id: string; readonly owned_by: string }[];
}
const listed = async (headers = {}) => {
  const { status, body } = await service.get<ModelList>('/v1/models', headers);
  return { status, ids: body.data.map(({ id, owned_by }) => `${owned_by}: ${id}`) };
};

describe('GET /v1/models', () => {
  it('200 without any key: svc/auto, what each hub serves of every kind, and what the router lists', async () => {
    const { status, ids } = await listed();
    expect(status).toBe(200);
    expect(ids[0]).toBe('svc: svc/auto');
    expect(ids).toEqual(expect.arrayContaining(['alpha: alpha-1', 'alpha: alpha-2', 'beta: beta-1']));
    expect(ids.slice(-2)).toEqual(['router: router/a/one', 'router: router/two']);
    expect(new Set(ids).size).toBe(ids.length);
    for (const hub of service.hubs)
      for (const id of [
        ...(hub.config.image_models ?? []),
        ...(hub.config.audio_models ?? []),
        ...(hub.config.embedding_models ?? []),
      ])
        expect(ids).toEqual(expect.arrayContaining([expect.stringMatching(new RegExp(`: ${id}$`))]));
  });

  it('the router is asked in our own name: no header of a caller reaches it', async () => {
    await listed({ 'X-Router-Key': 'sk-caller', 'user-agent': 'a-caller', authorization: 'Bearer a-live-key' });
    const [first, ...others] = router.requests.filter(({ path }) => path === '/v1/models');
    expect(Object.keys(first?.headers ?? {}).sort()).toEqual(['accept', 'connection', 'host']);
    // One list serves many requests, so the others cause no further call.
    expect(others).toEqual([]);
  });

  it('created is the same for all of them, whenever the service was started', async () => {
    const { body } = await service.get<{ data: { created: number }[] }>('/v1/models');
    expect(new Set(body.data.map(({ created }) => created))).toEqual(new Set([Date.UTC(2026, 0, 1) / 1_000]));
  });

  it('each says what it takes and gives, by whom it is served and what a call costs', async () => {
    const { body } = await service.get<{ data: { id: string }[] }>('/v1/models');
    const price = { amount: '2000', currency: 'USDC', decimals: 6, per: 'call' };
    const modelById = (id: string) => body.data.find(model => model.id === id);
    expect(modelById('alpha-1')).toMatchObject({
      hubs: ['alpha'],
      modality: { input: ['text'], output: ['text'] },
      price,
    });
    expect(modelById('alpha-2')).toMatchObject({ modality: { input: ['text', 'image'], output: ['text'] } });
    expect(modelById('alpha-image')).toMatchObject({ modality: { input: ['text'], output: ['image'] }, price });
    expect(modelById('beta-audio')).toMatchObject({ modality: { input: ['audio'], output: ['text'] }, price });
    expect(modelById('beta-embedding')).toMatchObject({ modality: { input: ['text'], output: ['embedding'] }, price });
    expect(modelById('router/two')).toMatchObject({
      hubs: ['router'],
      modality: { input: ['text'], output: ['text'] },
      price,
    });
    expect(modelById('svc/auto')).toMatchObject({
      hubs: ['alpha', 'beta'],
      modality: { input: ['text', 'image', 'audio'], output: ['text', 'image', 'embedding'] },
      price,
    });
  });

  it('405 on POST', async () => {
    const heard = await service.post('/v1/models', {});
    expect(heard).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
  });
});

describe('GET /v1/models/{id}', () => {
  it.each([
    ['alpha-1', '/v1/models/alpha-1'],
    ['svc/auto', '/v1/models/svc%2Fauto'],
    ['svc/auto', '/v1/models/svc/auto'],
    ['router/a/one', '/v1/models/router%2Fa%2Fone'],
    ['router/a/one', '/v1/models/router/a/one'],
    ['router/a/one', '/v1/models/router%2Fa/one'],
  ])('200 for %s, as %s: what the list says of it', async (id, path) => {
    const { body: list } = await service.get<ModelList>('/v1/models');
    const heard = await service.get(path);
    expect(heard).toMatchObject({ status: 200, body: { id } });
    expect(heard.body).toEqual(list.data.find(model => model.id === id));
  });

  it('200 on HEAD, without a body', async () => {
    const heard = await fetch(`${service.url}/v1/models/svc/auto`, { method: 'HEAD' });
    expect({ status: heard.status, text: await heard.text() }).toEqual({ status: 200, text: '' });
  });

  it.each(['nobody-1', 'svc%2Fnothing', 'svc/nothing', 'router/', `${'a/'.repeat(99)}b`])(
    '404 model_not_found for %s, in the shape that OpenAI clients read',
    async id => {
      const heard = await service.get(`/v1/models/${id}`);
      expect(heard).toMatchObject({
        status: 404,
        body: { code: 'model_not_found', error: { code: 'model_not_found', param: 'model', type: 'not_found_error' } },
      });
    },
  );

  it('405 on POST', async () => {
    const heard = await service.post('/v1/models/svc/auto', {});
    expect(heard).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
    expect(heard.headers.get('allow')).toBe('GET, HEAD');
  });
});

describe('a router with more models than are listed', () => {
  it('GET /v1/models says that it has more, and GET /v1/models/{id} finds each', async () => {
    const most = limits.router_models_max;
    const large = await startTestHub({ name: 'router', models: [] });
    large.behave(listing(...Array.from({ length: most + 1 }, (_, n) => `m-${n}`)));
    const own = await openService({ ROUTER_URL: large.base_url });
    const { body } = await own.get<{ data: { id: string }[]; has_more: boolean }>('/v1/models');
    expect(body.has_more).toBe(true);
    expect(body.data.filter(({ id }) => id.startsWith('router/'))).toHaveLength(most);
    expect(await own.get(`/v1/models/router/m-${most}`)).toMatchObject({ status: 200, body: { owned_by: 'router' } });
    expect(await own.get(`/v1/models/router/m-${most + 1}`)).toMatchObject({ status: 404 });
    expect((await service.get('/v1/models')).body.has_more).toBe(false);
  });
});
