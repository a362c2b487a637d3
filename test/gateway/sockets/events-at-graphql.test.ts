import { Client, fetchExchange, gql } from '@urql/core';
import type { ExecutionResult } from 'graphql';
import { createClient, NetworkError } from 'graphql-sse';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { payingFetch } from '../../harness/buyer.ts';
import { ask, type Service, sharedService } from '../../harness/doors/open-service.ts';

/* /graphql itself answers in events to a client that accepts nothing else. */

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const FOLLOW = 'subscription ($agentId: Int!) { bookRows(agentId: $agentId, after: 0) { position } }';
const CHAT =
  'mutation { createChatCompletion(input: { messages: [{ role: "user", content: "Hi" }] }) { receipt { taskId } } }';
const STREAM =
  'subscription { chatCompletionStream(input: { messages: [{ role: "user", content: "Hi" }] }) { __typename } }';
const EVENTS = 'text/event-stream';
const url = () => `${service.url}/graphql`;
const row = (position: number) => ({ data: { bookRows: { position } } });

/** All that one operation by the official client receives, and how it ended. */
function run(query: string, { variables = {}, headers = {}, fetchFn = fetch }: Running = {}) {
  const client = createClient({ url: url(), headers, retryAttempts: 0, fetchFn });
  onTestFinished(() => client.dispose());
  const heard: ExecutionResult[] = [];
  const over: { with: unknown } = { with: null };
  client.subscribe<Record<string, unknown>>(
    { query, variables },
    {
      next: result => void heard.push(result as ExecutionResult),
      error: fault => {
        over.with = fault;
      },
      complete: () => {
        over.with = 'complete';
      },
    },
  );
  return { heard, over };
}

interface Running {
  readonly variables?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
  readonly fetchFn?: typeof fetch;
}

async function toEnd(query: string, running: Running = {}) {
  const { heard, over } = run(query, running);
  await expect.poll(() => over.with, { timeout: 15_000 }).not.toBeNull();
  return { heard, over: over.with };
}

const post = (body: object, headers: Record<string, string> = {}) =>
  fetch(url(), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const buy = ({ account, session }: Agent) => service.buy(account, ask('Live'), { 'X-SVC-Session': session });

describe('/graphql by the client of graphql-sse, unmodified', () => {
  it('follows a book: what was, and then what comes', async () => {
    const agent = await service.newAgent();
    const headers = { 'X-SVC-Session': agent.session };
    const { heard } = run(FOLLOW, { variables: { agentId: agent.agent_id }, headers });
    await expect.poll(() => heard.length).toBe(1);
    await buy(agent);
    await expect.poll(() => heard).toEqual([row(1), row(2)]);
  });

  it('a query and a mutation are one event each, and complete', async () => {
    const { heard, over } = await toEnd('{ models { id } }');
    expect([heard, over]).toEqual([[{ data: { models: expect.any(Array) } }], 'complete']);
    const agent = await service.newAgent();
    const budget = `mutation { setBudget(agentId: ${agent.agent_id}, budgetAtomic: "90000") { agentId } }`;
    const set = await toEnd(budget, { headers: { 'X-SVC-Session': agent.session } });
    expect(set).toEqual({ heard: [{ data: { setBudget: { agentId: agent.agent_id } } }], over: 'complete' });
  });

  it('a paid mutation is paid for by HTTP, as it is where its answer is JSON', async () => {
    const account = await service.chain.newWallet();
    const { heard } = await toEnd(CHAT, { fetchFn: payingFetch(account) });
    expect(heard).toMatchObject([{ data: { createChatCompletion: { receipt: { taskId: expect.any(String) } } } }]);
    expect(await service.transfersFrom(account)).toHaveLength(1);
  });

  it.each([
    ['a syntax error', '{ models', 'invalid_request'],
    ['an unknown field', 'subscription { nothing }', 'invalid_request'],
    ['a stream that is sold, without a key', STREAM, 'invalid_request'],
    ['a book of somebody else', 'subscription { bookRows(agentId: 1) { position } }', 'unauthenticated'],
  ])('%s comes as an event with its code', async (_, query, code) => {
    const { heard, over } = await toEnd(query);
    expect([heard, over]).toMatchObject([[{ errors: [{ extensions: { code } }] }], 'complete']);
  });

  it('a wrong session stays a status, so that nobody tries again: 403', async () => {
    const headers = { 'X-SVC-Session': 'svcs_of_nobody' };
    const { over } = await toEnd(FOLLOW, { headers, variables: { agentId: 1 } });
    expect((over as NetworkError<Response>).response?.status).toBe(403);
  });
});

it('urql with fetchSubscriptions follows a book, and asks and changes as before', async () => {
  const agent = await service.newAgent();
  const types: (string | null)[] = [];
  const client = new Client({
    url: url(),
    exchanges: [fetchExchange],
    fetchSubscriptions: true,
    preferGetMethod: false,
    fetchOptions: { headers: { 'X-SVC-Session': agent.session } },
    fetch: async (...asked) => {
      const answer = await fetch(...asked);
      types.push(answer.headers.get('content-type'));
      return answer;
    },
  });
  const heard: unknown[] = [];
  const { unsubscribe } = client
    .subscription(gql(FOLLOW), { agentId: agent.agent_id })
    .subscribe(({ data, error }) => void heard.push(error ?? data));
  onTestFinished(unsubscribe);
  await expect.poll(() => heard.length).toBe(1);
  await buy(agent);
  await expect.poll(() => heard).toEqual([row(1).data, row(2).data]);
  const asked = await client.query(gql`query ($agentId: Int!) { book(agentId: $agentId) { agentId } }`, {
    agentId: agent.agent_id,
  });
  expect([asked.error, asked.data]).toEqual([undefined, { book: { agentId: agent.agent_id } }]);
  expect(types).toEqual([EVENTS, 'application/graphql-response+json; charset=utf-8']);
});

describe('the Accept header at /graphql', () => {
  const QUERY = { query: '{ models { id } }' };
  const GRAPHQL = 'application/graphql-response+json';
  const JSON_TYPE = 'application/json';

  it.each<[accept: string, media: string]>([
    ['*/*', JSON_TYPE],
    ['', JSON_TYPE],
    ['application/*', JSON_TYPE],
    ['application/json;charset=utf-8', JSON_TYPE],
    ['application/json;odata=verbose', JSON_TYPE],
    [`${EVENTS}, application/json`, JSON_TYPE],
    [`${EVENTS}, */*;q=0.1`, EVENTS],
    [`${EVENTS};q=0, */*`, JSON_TYPE],
    [`application/json;q=0.5, ${GRAPHQL}`, GRAPHQL],
    [`${GRAPHQL}, application/json, ${EVENTS}`, GRAPHQL],
    [`application/json;q=0, ${EVENTS}`, EVENTS],
    ['TEXT/Event-Stream', EVENTS],
    ['text/*', EVENTS],
  ])('a query with Accept: %s is answered as %s', async (accept, media) => {
    const answer = await post(QUERY, { accept });
    expect([answer.status, answer.headers.get('content-type')?.split(';')[0]]).toEqual([200, media]);
    expect(await answer.text()).toContain('"models":[');
  });

  it('a subscription is answered in events wherever they are named, and nowhere else', async () => {
    const follow = { query: 'subscription { boardEvents { position } }' };
    for (const accept of [`application/json, ${EVENTS}`, `${EVENTS}, multipart/mixed`]) {
      const leaving = new AbortController();
      const answer = await fetch(url(), {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept },
        body: JSON.stringify(follow),
        signal: leaving.signal,
      });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, EVENTS]);
      leaving.abort();
    }
    for (const accept of ['*/*', `application/json, ${EVENTS};q=0`]) {
      const answer = await post(follow, { accept });
      expect(await answer.json()).toMatchObject({
        errors: [{ message: expect.stringContaining('Accept: text/event-stream'), extensions: { status: 400 } }],
      });
    }
  });

  it.each(['application/xml', 'text/html', `application/json;q=0, ${EVENTS};q=0`, 'multipart/mixed'])(
    '406 for Accept: %s, whose body says so and what is offered; nothing is done or charged',
    async accept => {
      const account = await service.chain.newWallet();
      const payment = (await service.payment(account, '/v1/chat/completions')) as Record<string, string>;
      const answer = await post({ query: CHAT }, { ...payment, accept });
      const offered = ['application/json', GRAPHQL, EVENTS];
      expect([answer.status, await answer.json()]).toMatchObject([
        406,
        { errors: [{ extensions: { code: 'not_acceptable', status: 406, offered } }] },
      ]);
      expect(await service.claimsOf(account)).toEqual([]);
      expect(await service.transfersFrom(account)).toEqual([]);
    },
  );

  it('402 in events is still a 402 with its challenge in the headers', async () => {
    const answer = await post({ query: CHAT }, { accept: EVENTS });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([402, EVENTS]);
    expect(answer.headers.get('payment-required')).toMatch(/^[\w+/=-]+$/);
    expect(await answer.text()).toMatch(
      /^event: next\ndata: {.*"code":"payment_required".*}\n\nevent: complete\ndata: \n\n$/,
    );
  });

  it('/graphql/stream has events alone to offer', async () => {
    const asked = { headers: { accept: 'application/json' } };
    const answer = await fetch(`${url()}/stream?query=${encodeURIComponent(FOLLOW)}`, asked);
    expect([answer.status, await answer.json()]).toMatchObject([
      406,
      { errors: [{ extensions: { code: 'not_acceptable', status: 406, offered: [EVENTS] } }] },
    ]);
  });
});
