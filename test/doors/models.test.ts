import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type HubRequest, startTestHub, type TestHub } from '../harness/hub.ts';
import { openService, type Service } from './open-service.ts';

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

interface Listed {
  readonly data: readonly { readonly id: string; readonly owned_by: string }[];
}
const listed = async (headers = {}) => {
  const { status, body } = await service.get<Listed>('/v1/models', headers);
  return { status, ids: body.data.map(({ id, owned_by }) => `${owned_by}: ${id}`) };
};

describe('GET /v1/models', () => {
  test('200 without any key: svc/auto, what each hub serves of every kind, and what the router lists', async () => {
    const { status, ids } = await listed();
    expect(status).toBe(200);
    expect(ids[0]).toBe('svc: svc/auto');
    expect(ids).toEqual(expect.arrayContaining(['alpha: alpha-1', 'alpha: alpha-2', 'beta: beta-1']));
    expect(ids.slice(-2)).toEqual(['router: router/a/one', 'router: router/two']);
    expect(new Set(ids).size).toBe(ids.length);
    for (const hub of service.hubs)
      for (const id of [...(hub.config.image_models ?? []), ...(hub.config.audio_models ?? [])])
        expect(ids).toEqual(expect.arrayContaining([expect.stringMatching(new RegExp(`: ${id}$`))]));
  });

  test('the router is asked in our own name: no header of a caller reaches it', async () => {
    await listed({ 'X-Router-Key': 'sk-caller', 'user-agent': 'a-caller', authorization: 'Bearer a-live-key' });
    const [first, ...others] = router.requests.filter(({ path }) => path === '/v1/models');
    expect(Object.keys(first?.headers ?? {}).sort()).toEqual(['accept', 'connection', 'host']);
    // One list serves many.
    expect(others).toEqual([]);
  });

  test('the same by GraphQL, with the hubs behind each id', async () => {
    const { body } = await service.post<{ data: { models: { id: string; ownedBy: string; hubs: string[] }[] } }>(
      '/graphql',
      { query: '{ models { id ownedBy hubs } }' },
    );
    expect(body.data.models.map(({ id, ownedBy }) => `${ownedBy}: ${id}`)).toEqual((await listed()).ids);
    expect(body.data.models[0]?.hubs).toEqual(['alpha', 'beta']);
    expect(body.data.models.at(-1)).toEqual({ id: 'router/two', ownedBy: 'router', hubs: ['router'] });
  });

  test('405 on POST', async () => {
    const heard = await service.post('/v1/models', {});
    expect(heard).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
  });
});
