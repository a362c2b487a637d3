import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { routerLimits } from '../../schema/limits.ts';
import { INGEST_KEY_BYTES, ingestKey } from '../../schema/router/ingest-key.ts';
import { NOT_SETTLED_HERE } from '../../schema/router/work-report.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { bearer, report, routerDoorsOf, startRouter } from '../harness/doors/router.ts';

let service: Service;
let router: Awaited<ReturnType<typeof startRouter>>;
let agent: Awaited<ReturnType<Service['newAgent']>>;
let stranger: Awaited<ReturnType<Service['newAgent']>>;
beforeAll(async () => {
  router = await startRouter();
  service = await openService({ ROUTER_URL: router.base_url, DEMO_KEYS: 'a-demo-key', RATE_FREE: '100000/1' });
  [agent, stranger] = [await service.newAgent(), await service.newAgent()];
});
beforeEach(() => router.answerWithCost({ model: 'some/model', cost: '0.00125' }));
const { open, setKey, broadcast, summary } = routerDoorsOf(() => service);

/** A well-formed ingest key that belongs to no book. */
const OTHER_KEY = ingestKey(new Uint8Array(INGEST_KEY_BYTES));
const keptBook = async (agent_id?: number, headers = {}) => {
  const { body } = await open(agent_id === undefined ? {} : { agent_id }, headers);
  await setKey(body.book_id, 'sk-or-the-key', bearer(body.ingest_key));
  return body;
};

describe('POST /v1/router/books', () => {
  it('201 with its key, which is shown once; of an agent, by its session', async () => {
    const { status, body } = await open({ label: 'Mine' });
    expect([status, body]).toEqual([
      201,
      {
        book_id: expect.stringMatching(/^rbook_[0-9a-z]{26}$/),
        agent_id: null,
        label: 'Mine',
        ingest_key: expect.stringMatching(/^svcr_[\w-]{43}[0-9a-f]{8}$/),
        opened_at: expect.any(String),
        attestation_note: NOT_SETTLED_HERE,
      },
    ]);
    const { agent_id, session } = agent;
    for (const shown of [
      [{ agent_id, session }, {}],
      [{ agent_id }, { 'X-SVC-Session': session }],
    ] as const)
      expect(await open(...shown)).toMatchObject({ status: 201, body: { agent_id, label: null } });
  });

  it('401 and 403, empty, for an agent whose session did not come along; 403 for a demo key', async () => {
    const { agent_id } = agent;
    const refusals = [
      [401, await open({ agent_id })],
      [403, await open({ agent_id }, { 'X-SVC-Session': stranger.session })],
      [403, await open({ agent_id: 4_000 }, { 'X-SVC-Session': agent.session })],
      [403, await open({}, { 'X-SVC-Session': 'no-such-session' })],
      [403, await open({}, { 'X-API-Key': 'a-demo-key' })],
    ] as const;
    for (const [status, answer] of refusals) expect([answer.status, answer.text]).toEqual([status, '']);
  });

  it('400 for a member that is not valid or not known, 413 and 415 as anywhere', async () => {
    for (const [param, body] of [
      ['label', { label: '' }],
      ['label', { label: 'a\0b' }],
      ['label', { label: 'x'.repeat(121) }],
      ['agent_id', { agent_id: '1' }],
      ['colour', { colour: 'red' }],
    ] as const)
      expect((await open(body)).body).toMatchObject({ status: 400, code: 'invalid_request', error: { param } });
    expect((await service.post('/v1/router/books', 'x'.repeat(2_000_000))).status).toBe(413);
    expect((await service.post('/v1/router/books', 'a=b', { 'content-type': 'text/plain' })).status).toBe(415);
  });
});

describe('PUT /v1/router/books/{book_id}/router-key', () => {
  it('200, and another one takes its place: the next look-up is made with that', async () => {
    const { body: book } = await open();
    for (const key of ['sk-or-first', 'sk-or-second']) {
      const { status, body } = await setKey(book.book_id, key, bearer(book.ingest_key));
      expect([status, body]).toEqual([
        200,
        { book_id: book.book_id, has_router_key: true, set_at: expect.any(String) },
      ]);
      await broadcast(book.ingest_key, report());
      expect(router.asked.at(-1)?.headers.authorization).toBe(`Bearer ${key}`);
    }
  });

  it('401 without the ingest key, 403 with another one, empty; 400 for what is no key', async () => {
    const [{ body: book }, { body: other }] = [await open(), await open()];
    const missing = await setKey(book.book_id, 'sk', {});
    expect([missing.status, missing.text, missing.headers.get('www-authenticate')]).toEqual([401, '', 'Bearer']);
    for (const key of [other.ingest_key, OTHER_KEY, 'svcr_mistyped', `${book.ingest_key.slice(0, -1)}x`]) {
      const { status, text } = await setKey(book.book_id, 'sk', bearer(key));
      expect([status, text]).toEqual([403, '']);
    }
    expect((await setKey(book.book_id, 'sk', { 'X-SVC-Session': agent.session })).status).toBe(401);
    for (const key of ['', 'two words', 'x'.repeat(513), 7])
      expect((await setKey(book.book_id, key, bearer(book.ingest_key))).body).toMatchObject({
        status: 400,
        error: { param: 'key' },
      });
  });
});

describe('GET /v1/router/books/{book_id}/summary', () => {
  it('200 counts verified generations only, by rail; for its key and for the session of its agent', async () => {
    const { agent_id, session } = agent;
    const book = await keptBook(agent_id, { 'X-SVC-Session': session });
    await broadcast(book.ingest_key, report());
    await broadcast(book.ingest_key, report({ rail: 'usdc' }));
    const { body: told } = await broadcast(book.ingest_key, report({ rail: 'usdc' }));
    await broadcast(book.ingest_key, report({ rail: 'usdc', generation_id: told.generation_id }));
    await broadcast(book.ingest_key, report({ amount: '9999' }));
    const expected = {
      book_id: book.book_id,
      agent_id,
      label: null,
      has_router_key: true,
      count: 3,
      amount: '3750',
      by_rail: [
        { rail: 'usdc', count: 2, amount: '2500' },
        { rail: 'credits', count: 1, amount: '1250' },
      ],
      by_rail_truncated: false,
      attestation_note: NOT_SETTLED_HERE,
    };
    for (const shown of [bearer(book.ingest_key), { 'X-SVC-Session': session }]) {
      const { status, body } = await summary(book.book_id, shown);
      expect([status, body]).toEqual([200, expected]);
    }
  });

  it('200 with the sums of all rails, and says so where it does not show each', async () => {
    const { body: book } = await open();
    await service.query(
      `insert into router_sum select $1, 'rail_' || n, 1, 10 from generate_series(1, ${routerLimits.summary_rails_max + 1}) n`,
      [book.book_id],
    );
    const { body } = await summary(book.book_id, bearer(book.ingest_key));
    expect(body).toMatchObject({ count: 33, amount: '330', by_rail_truncated: true });
    expect(body.by_rail).toHaveLength(routerLimits.summary_rails_max);
  });

  it('401 and 403, empty, for everybody else', async () => {
    const [{ body: book }, { body: other }] = [await open(), await open()];
    const refusals = [
      [401, await summary(book.book_id, {})],
      [403, await summary(book.book_id, bearer(other.ingest_key))],
      [403, await summary(book.book_id, { 'X-SVC-Session': agent.session })],
      [403, await summary('rbook_none', { 'X-SVC-Session': agent.session })],
      [403, await summary('rbook_none', bearer(book.ingest_key))],
      [403, await summary(book.book_id, { 'X-SVC-Session': 'wrong' })],
      [403, await summary(book.book_id, bearer('svcr_mistyped'))],
    ] as const;
    for (const [status, answer] of refusals) expect([answer.status, answer.text]).toEqual([status, '']);
    expect((await service.get(`/v1/router/books/${book.book_id}`, bearer(book.ingest_key))).status).toBe(404);
  });
});

it('the same by GraphQL: opened, given a key, broadcast with its receipt, summed up', async () => {
  const headers = { 'X-SVC-Session': agent.session };
  const graph = async (query: string, variables: JsonObject, shown: Readonly<Record<string, string>>) =>
    (await onGraph<Record<string, JsonObject>>(service, query, variables, shown)).body;
  const opened = await graph(
    'mutation ($a: Int) { openRouterBook(input: { agentId: $a, label: "By graph" }) { bookId agentId label ingestKey } }',
    { a: agent.agent_id },
    headers,
  );
  const { bookId, ingestKey } = opened.data?.openRouterBook ?? {};
  const shown = bearer(String(ingestKey));
  const kept = await graph(
    'mutation ($b: String!) { setRouterKey(bookId: $b, key: "sk-or-graph") { hasRouterKey } }',
    { b: bookId ?? null },
    shown,
  );
  expect(kept.data).toEqual({ setRouterKey: { hasRouterKey: true } });
  const told = await graph(
    `mutation ($i: BroadcastInput!) { broadcastGeneration(input: $i) { amount verifiedWith lookUp idempotentReplay
      receipt { taskId amount settledBy payload { jobKind claimId payment { ref } reported { by generationId rail amount paymentRef verifiedWith } } } } }`,
    { i: { generationId: 'gen-graph', model: 'some/model', amount: '1250', rail: 'x402', paymentRef: 'base:0x1' } },
    shown,
  );
  expect(told).toMatchObject({
    data: {
      broadcastGeneration: {
        amount: '1250',
        verifiedWith: router.host,
        lookUp: 'matched',
        idempotentReplay: false,
        receipt: {
          amount: null,
          settledBy: null,
          payload: {
            jobKind: 'router_broadcast',
            claimId: agent.agent_id,
            payment: null,
            reported: {
              by: bookId,
              generationId: 'gen-graph',
              rail: 'x402',
              amount: '1250',
              paymentRef: 'base:0x1',
              verifiedWith: router.host,
            },
          },
        },
      },
    },
  });
  const query = 'query ($b: String!) { routerBookSummary(bookId: $b) { count byRail { rail amount } } }';
  const summed = { routerBookSummary: { count: 1, byRail: [{ rail: 'x402', amount: '1250' }] } };
  expect((await graph(query, { b: bookId ?? null }, shown)).data).toEqual(summed);
  expect((await graph(query, { b: bookId ?? null }, headers)).data).toEqual(summed);
  expect(await graph(query, { b: bookId ?? null }, {})).toMatchObject({
    errors: [{ extensions: { code: 'unauthenticated' } }],
  });
  expect(await graph(query, { b: 'rbook_none' }, shown)).toMatchObject({
    errors: [{ extensions: { code: 'forbidden' } }],
  });
});
