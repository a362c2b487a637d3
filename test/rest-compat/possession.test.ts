import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bookDoors } from '../../rest-compat/book/doors.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { openApi } from '../../rest-compat/faces/openapi.ts';
import { type DescribedResponse, withoutReferences, wordsOfEmptyBody } from '../harness/openapi.ts';
import { fail, openRestFixture, payment, type RestFixture, succeed } from '../harness/rest-compat/fake-port.ts';

/** A door like that of ingests, which takes any body: a stamp, asked for only once possession is proven. */
const stamped = {
  ...bookDoors[0],
  name: 'stamped',
  methods: ['POST'] as const,
  path: '/v1/agents/{agent_id}/book/stamped' as const,
  price: { amount_atomic: 2000n, networks: ['base'] as const, paid_by: ['payment', 'waiver_key'] as const },
  challenge: 'after_possession' as const,
};

let house: RestFixture;
beforeAll(async () => {
  house = await openRestFixture([...everyDoor, stamped]);
});
afterAll(() => house.close());
beforeEach(() => {
  house.port.calls.length = 0;
  succeed(house.port, { answer: { agent_id: 7, entries: [] } });
});

const book = '/v1/agents/7/book';

describe.each([book, '/v1/agents/7/book/stamped'])('%s', path => {
  const paid = { 'payment-signature': payment };

  it.each([[{}], [{ session: null }], [{ session: 5 }], [{ limit: 'x' }]])(
    '401, empty: %j proves nothing',
    async body => {
      const response = await house.post(path, body, paid);
      expect([response.status, await response.text()]).toEqual([401, '']);
      expect(response.headers.get('www-authenticate')).toBe('SVC-Session');
    },
  );

  it.each([[{ session: 'wrong' }], [{ proof: 'sha256=wrong' }]])('403, empty: %j is wrong', async body => {
    const response = await house.post(path, body, paid);
    expect([response.status, await response.text()]).toEqual([403, '']);
  });

  it('403, empty: a session of another agent', async () => {
    const response = await house.post(path.replace('7', '8'), { session: 'good' }, paid);
    expect([response.status, await response.text()]).toEqual([403, '']);
  });

  it.each(['0', '-1', 'abc', '7.0', '99999999999'])('403 with, 401 without a proof: %s is no agent', async id => {
    const at = path.replace('7', id);
    expect((await house.post(at, { session: 'good' }, paid)).status).toBe(403);
    expect((await house.post(at, { proof: 'sha256=good' }, paid)).status).toBe(403);
    expect((await house.post(at, {}, paid)).status).toBe(401);
  });

  it('200: session or proof, in body or header', async () => {
    const shown: [object, Record<string, string>][] = [
      [{ session: 'good' }, {}],
      [{}, { 'x-svc-session': 'good' }],
      [{ proof: 'sha256=good' }, {}],
      [{}, { 'x-svc-proof': 'sha256=good' }],
    ];
    for (const [body, headers] of shown)
      expect((await house.post(path, body, { ...headers, ...paid })).status).toBe(200);
  });
});

it('GET book: session and proof by header, never by query', async () => {
  expect((await house.get(`${book}?session=good&proof=sha256=good`)).status).toBe(401);
  expect((await house.get(book, { 'x-svc-proof': 'sha256=wrong' })).status).toBe(403);
  expect((await house.get(book, { 'x-svc-proof': 'sha256=good' })).status).toBe(200);
  expect((await house.get(book, { 'x-svc-session': 'good' })).status).toBe(200);
});

interface Described {
  readonly paths: Record<string, Record<string, { readonly responses: Record<number, DescribedResponse> }>>;
}
const { paths } = withoutReferences(openApi(everyDoor, 'https://svc.test')) as unknown as Described;
const operations = everyDoor.flatMap(door => door.methods.map(method => [method, door.path] as const));

it.each(operations)(
  '%s %s: a 401 or 403 is described with a body if it has one, and without if it is empty',
  async (method, path) => {
    const { responses = {} } = paths[path]?.[method.toLowerCase()] ?? {};
    const url = house.url + path.replace(/\{\w+\}/g, '7');
    const body = method === 'GET' ? {} : { body: '{}' };
    for (const shown of [
      {},
      { 'x-svc-session': 'wrong' },
      { authorization: 'Bearer wrong' },
      { 'x-svc-board-ops': 'wrong' },
    ]) {
      const heard = await fetch(url, { method, ...body, headers: { ...shown, 'content-type': 'application/json' } });
      const text = await heard.text();
      if (heard.status !== 401 && heard.status !== 403) continue;
      const response = responses[heard.status] ?? { description: 'not described' };
      if (text === '') expect(response.description).toMatch(wordsOfEmptyBody(response));
      else expect(response.content).toBeDefined();
    }
  },
);

it('401 and 403 of the resolver are empty as well', async () => {
  fail(house.port, { code: 'forbidden', status: 403, message: 'm', facts: {} });
  const response = await house.get(book, { 'x-svc-session': 'good' });
  expect([response.status, await response.text()]).toEqual([403, '']);
});

describe('a stamp behind possession', () => {
  const ingest = '/v1/agents/7/book/stamped';

  it('401 to who proves nothing, before any 402', async () => {
    expect((await house.post(ingest, {})).status).toBe(401);
    expect((await house.get(ingest)).status).toBe(401);
  });

  it('402 once possession is proven, before the body is validated, at its own URL', async () => {
    const response = await house.post(ingest, { limit: 'x' }, { 'x-svc-session': 'good' });
    expect(response.status).toBe(402);
    const { accepts } = (await response.json()) as { accepts: { resource: string }[] };
    expect(accepts[0]?.resource).toBe('https://svc.test/v1/agents/7/book/stamped');
    expect((await house.get(ingest, { 'x-svc-session': 'good' })).status).toBe(402);
  });

  it('200 with a pilot waiver, which opens no other door', async () => {
    expect((await house.post(ingest, { session: 'good' }, { 'x-api-key': 'waiver' })).status).toBe(200);
    expect((await house.post('/v1/chat/completions', {}, { 'x-api-key': 'waiver' })).status).toBe(402);
  });
});
