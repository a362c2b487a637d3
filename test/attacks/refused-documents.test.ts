import { QueryPlanner } from '@apollo/query-planner';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Graph } from '../../gateway/graph/open-graph.ts';
import { openServer, type Server } from '../../gateway/http/server.ts';
import { nobody } from '../../schema/principal.ts';
import { bomb, cycle, inlineNested } from '../harness/attacks/documents.ts';
import { logTo, neverHalted, openShop, Shop, shopContext } from '../harness/graph/shop.ts';

const planned = vi.spyOn(QueryPlanner.prototype, 'buildQueryPlan');
const shop = new Shop();
let graph: Graph;
let server: Server;
let url: string;
let contexts = 0;

beforeAll(async () => {
  graph = await openShop();
  server = await openServer({
    graph,
    async createContext() {
      contexts++;
      return shopContext(shop);
    },
    callers: {
      ...neverHalted,
      identify: async () => nobody,
      bookOfSession: async () => null,
      keep: async () => null,
      createContext: () => shopContext(shop),
      watchSessions: async () => () => {},
      catchUp: async () => {},
    },
    logger: logTo([]),
    graphiql: false,
  });
  url = await server.listen('127.0.0.1', 0);
});
afterAll(async () => {
  planned.mockRestore();
  await server.close();
});
beforeEach(() => {
  contexts = 0;
  planned.mockClear();
});

const attacks: [name: string, query: string][] = [
  ['a bomb of fragments', bomb(30)],
  ['a cycle of fragments', cycle(30)],
  ['inline fragments in each other', inlineNested(300)],
  ['a hundred purchases', `mutation { ${Array.from({ length: 100 }, (_, i) => `a${i}: greet`).join(' ')} }`],
];

const untouched = () => [planned.mock.calls.length, contexts, shop.bought, shop.looked_up.length];

it.each(attacks)('nothing is planned, run or asked for %s: over HTTP', async (_, query) => {
  const body = JSON.stringify({ query });
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  expect([answer.status, untouched()]).toEqual([400, [0, 0, 0, 0]]);
});

it.each(attacks)('nothing is planned or run for %s: over a socket', async (_, query) => {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  });
  const errors = await new Promise(resolve =>
    client.subscribe({ query }, { next: resolve, error: resolve, complete() {} }),
  );
  await client.dispose();
  expect([errors, untouched()]).toMatchObject([[{ extensions: { status: 400 } }], [0, 0, 0, 0]]);
});

it.each(attacks)('nothing is planned or run for %s: on the road of the doors', async (_, query) => {
  const operation = { document: graph.parse(query), variables: {}, context: shopContext(shop) };
  for (const result of [await graph.execute(operation), await graph.subscribe(operation)]) {
    expect([result, untouched()]).toMatchObject([{ errors: [{ extensions: { status: 400 } }] }, [0, 0, 0, 0]]);
  }
});

it('what is refused is not kept, and what is kept is not pushed out by it', async () => {
  const good = '{ sales { item } }';
  expect(graph.validate(graph.parse(good))).toEqual([]);
  const kept = graph.parse(good);
  for (let n = 0; n < 1_500; n++) {
    const wrong = graph.parse(`{ nothing${n} }`);
    expect(graph.validate(wrong)).toHaveLength(1);
    expect(graph.parse(`{ nothing${n} }`)).not.toBe(wrong);
  }
  expect(graph.parse(good)).toBe(kept);
});

it('what is valid is kept while it is used, and no more of it than a bound', () => {
  const long = (n: number) => `{ sales { item } } # ${n} ${'x'.repeat(10_000)}`;
  const first = graph.parse(long(0));
  graph.validate(first);
  const second = graph.parse(long(1));
  graph.validate(second);
  for (let n = 2; n < 150; n++) {
    graph.validate(graph.parse(long(n)));
    expect(graph.parse(long(0))).toBe(first);
  }
  expect(graph.parse(long(1))).not.toBe(second);
});
