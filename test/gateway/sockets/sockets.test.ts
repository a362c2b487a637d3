import { once } from 'node:events';
import { type Client, createClient, type ExecutionResult } from 'graphql-ws';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { openServer, type Server } from '../../../gateway/http/server.ts';
import { agentId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import { nobody, type Principal } from '../../../schema/principal.ts';
import { DatabaseAway } from '../../../subgraphs/outage.ts';
import { logTo, neverHalted, openShop, Shop, sale, shopContext } from '../../harness/graph/shop.ts';

const log: string[] = [];
let shop = new Shop();
let server: Server;
let url: string;
const identified: (string | null)[] = [];

beforeAll(async () => {
  server = await openServer({
    graph: await openShop({ log }),
    createContext: async () => shopContext(shop),
    callers: {
      ...neverHalted,
      bookOfSession: async () => null,
      keep: async () => null,
      async identify({ sessions: [session = null], address }): Promise<Principal> {
        identified.push(session);
        if (session === 'broken') throw new Error('no database at 10.0.0.7');
        if (session === 'away') throw new DatabaseAway(new Error('no database at 10.0.0.7'));
        if (session === null) return { ...nobody, address };
        return {
          ...nobody,
          address,
          possession:
            session === 'right'
              ? { kind: 'proven', agent_id: agentId(7), session_hash: '', by: 'session' }
              : { kind: 'wrong' },
        };
      },
      createContext: principal => shopContext(shop, { principal }),
      watchSessions: async () => () => {},
      catchUp: async () => {},
    },
    logger: logTo(log),
    graphiql: false,
  });
  url = (await server.listen('127.0.0.1', 0)).replace('http', 'ws');
});
afterAll(() => server.close());
beforeEach(() => {
  shop = new Shop();
});

function client(connectionParams: Record<string, unknown> = {}): Client {
  const opened = createClient({ url: `${url}/graphql`, webSocketImpl: WebSocket, connectionParams, retryAttempts: 0 });
  onTestFinished(() => void opened.dispose());
  return opened;
}

async function first(opened: Client, query: string): Promise<ExecutionResult> {
  for await (const result of opened.iterate({ query })) return result as ExecutionResult;
  throw new Error('nothing came');
}

const codeOf = (opened: Client): Promise<number> =>
  new Promise(resolve => opened.on('closed', event => resolve((event as CloseEvent).code)));

/** A socket that has completed the handshake of graphql-transport-ws, so that it may subscribe. */
async function greetedSocket(): Promise<WebSocket> {
  const socket = new WebSocket(`${url}/graphql`, 'graphql-transport-ws');
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  socket.send('{"type":"connection_init"}');
  await once(socket, 'message');
  return socket;
}

/** Resolves with the code and reason with which the server closed the socket. */
async function closing(connectionParams: Record<string, unknown>): Promise<[number, string]> {
  const opened = client(connectionParams);
  return new Promise(resolve => {
    opened.on('closed', event => resolve([(event as CloseEvent).code, (event as CloseEvent).reason]));
    first(opened, '{ sales { item } }').catch(() => {});
  });
}

describe('a subscription', () => {
  it('joins what other subgraphs know to each event, in order, and gives its source back when the reader leaves', async () => {
    const events = client({ session: 'right' }).iterate({ query: 'subscription { sold { position slip { url } } }' });
    shop.sales.push(sale(1, 'apple'));
    shop.sales.push(sale(2, 'pear'));
    for (const position of [1, 2]) {
      expect((await events.next()).value).toEqual({
        data: { sold: { position, slip: { url: `https://shop.example/slip-${position}` } } },
      });
    }
    await events.return?.();
    await expect.poll(() => shop.sales.released).toBe(true);
  });

  it('needs no join where one subgraph knows all, variables and aliases as asked', async () => {
    const query = 'subscription ($from: Int) { sold(from: $from) { at: position item } }';
    const events = client().iterate({ query, variables: { from: 0 } });
    shop.sales.push(sale(1, 'apple'));
    expect((await events.next()).value).toEqual({ data: { sold: { at: 1, item: 'apple' } } });
  });

  it('gives its source back when the socket is cut', async () => {
    const opened = client();
    const events = opened.iterate({ query: 'subscription { sold { slip { url } } }' });
    shop.sales.push(sale(1, 'apple'));
    await events.next();
    opened.terminate();
    await expect.poll(() => shop.sales.released).toBe(true);
  });

  it('reports a joined entity that is missing and goes on', async () => {
    const events = client().iterate({ query: 'subscription { sold { item slip { url } } }' });
    shop.sales.push({ position: 1, item: 'fig', slip_ref: 'lost' });
    shop.sales.push(sale(2, 'pear'));
    expect((await events.next()).value).toMatchObject({
      data: { sold: { item: 'fig', slip: null } },
      errors: [{ extensions: { code: 'internal' } }],
    });
    expect((await events.next()).value).toMatchObject({ data: { sold: { item: 'pear', slip: {} } } });
  });
});

describe('a socket', () => {
  it.each([
    ['session', { session: 'right' }],
    ['headers', { headers: { 'X-SVC-Session': 'right' } }],
  ])('takes the session from %s of connection_init', async (_, params) => {
    await first(client(params), '{ sales { item } }');
    expect(identified.at(-1)).toBe('right');
  });

  it.each([
    ['bare', { 'X-SVC-Sesion': 'right' }, 'x-svc-sesion'],
    ['under headers', { headers: { 'X-Svc-Sesion': 'right' } }, 'x-svc-sesion'],
    ['beside a session', { session: 'right', 'x-svc-agnet': '7' }, 'x-svc-agnet'],
    ['longer than a reason may be', { [`x-svc-${'a'.repeat(200)}`]: '' }, `x-svc-${'a'.repeat(58)}`],
  ])('closes with 4400 and the name of a header of the service that is not known, %s', async (_, params, name) => {
    const before = identified.length;
    expect(await closing(params)).toEqual([4400, `${name}: the service reads no header of this name.`]);
    expect(identified).toHaveLength(before);
  });

  it('closes with 4400 also where the name is not of ASCII, and longer than a reason may be', async () => {
    expect(await closing({ [`x-svc-${'é'.repeat(200)}`]: '' })).toMatchObject([
      4400,
      expect.stringMatching(/^x-svc-é/),
    ]);
  });

  it('closes with 4400 and the name of such a header of the upgrade', async () => {
    const headers = { 'X-SVC-Foo': '1' };
    const socket = new WebSocket(`${url}/graphql`, 'graphql-transport-ws', { headers });
    onTestFinished(() => socket.terminate());
    await once(socket, 'open');
    const closed = once(socket, 'close');
    socket.send('{"type":"connection_init"}');
    const [code, reason] = await closed;
    expect([code, String(reason)]).toEqual([4400, 'x-svc-foo: the service reads no header of this name.']);
  });

  it.each([
    [
      'of a subscription',
      '{"id":"1","type":"subscribe","payload":{"query":"{ sales { item } }","query":"{ sales { at } }"}}',
      'query',
    ],
    ['in another spelling', '{"id":"1","type":"complete","\\u0069d":"2"}', 'id'],
    ['of a greeting', '{"type":"connection_init","payload":{"session":"right","session":"guessed"}}', 'session'],
    [
      'whose name is longer than a reason may be',
      `{"type":"ping","payload":{"${'é'.repeat(70)}":1,"${'é'.repeat(70)}":2}}`,
      'é'.repeat(48),
    ],
  ])(
    'closes with 4400 and the name of a member that is there twice %s, and runs nothing of it',
    async (_, frame, name) => {
      const socket = await greetedSocket();
      const heard: string[] = [];
      socket.on('message', message => heard.push(String(message)));
      const closed = once(socket, 'close');
      // What comes behind it in the same moment is not run either.
      socket.send(frame);
      socket.send('{"id":"2","type":"subscribe","payload":{"query":"{ sales { item } }"}}');
      const [code, reason] = await closed;
      expect([code, String(reason)]).toEqual([4400, `${name}: named twice in one object`]);
      expect(heard).toEqual([]);
    },
  );

  it('reads a member that stands in several objects, and names in the text of a query', async () => {
    const socket = await greetedSocket();
    const query = 'query ($at: Int) { sales(first: $at) { item } }';
    socket.send(
      JSON.stringify({ id: 'id', type: 'subscribe', payload: { query, variables: { at: 1 }, extensions: { id: 1 } } }),
    );
    const [message] = await once(socket, 'message');
    expect(JSON.parse(String(message))).toMatchObject({
      id: 'id',
      type: 'next',
      payload: { data: { sales: [{ item: 'apple' }] } },
    });
  });

  it('closes with 4403 on a wrong session and stays open without one', async () => {
    expect(await closing({ session: 'guessed' })).toEqual([4403, 'Forbidden']);
    expect(await first(client(), '{ sales(first: 1) { item slip { ref } } }')).toEqual({
      data: { sales: [{ item: 'apple', slip: { ref: 'slip-1' } }] },
    });
  });

  it('closes with 4500 and no detail where callers cannot be identified', async () => {
    expect(await closing({ session: 'broken' })).toEqual([4500, 'Internal server error']);
    expect(log.join()).toContain('no database at 10.0.0.7');
  });

  it('closes with 1013, upon which clients come again, while the database is away', async () => {
    expect(await closing({ session: 'away' })).toEqual([1013, 'Try again later']);
  });

  it('runs free mutations and refuses paid ones: payment needs HTTP', async () => {
    const opened = client({ session: 'right' });
    expect(await first(opened, 'mutation { greet }')).toEqual({ data: { greet: true } });
    await expect(first(opened, 'mutation { buy(item: "a") { item } }')).rejects.toMatchObject([
      { message: expect.stringContaining('HTTP'), extensions: { code: 'invalid_request' } },
    ]);
    expect(shop.bought).toBe(0);
  });

  it('survives a syntax error, an unknown field and an operation that is not there', async () => {
    const opened = client();
    for (const query of ['{ sales', '{ nothing }', 'query A { sales { item } } query B { sales { item } }']) {
      await expect(first(opened, query)).rejects.toMatchObject([
        { extensions: { code: 'invalid_request', status: 400 } },
      ]);
    }
    expect(await first(opened, '{ slip(ref: "a") { url } }')).toEqual({
      data: { slip: { url: 'https://shop.example/a' } },
    });
  });

  it('carries a bounded number of operations', async () => {
    const opened = client();
    const feeds = Array.from({ length: limits.socket_subscriptions_max }, () =>
      opened.iterate({ query: 'subscription { sold { item } }' }),
    );
    for (const feed of feeds) feed.next().catch(() => {});
    await expect(first(opened, '{ sales { item } }')).rejects.toMatchObject([{ extensions: { code: 'rate_limited' } }]);
    await Promise.all(feeds.map(feed => feed.return?.()));
  });

  it('is cut on a message beyond the limit', async () => {
    const opened = client();
    const closed = codeOf(opened);
    void first(opened, `{ sales { item } } #${'x'.repeat(limits.socket_message_bytes_max)}`).catch(() => {});
    expect(await closed).toBe(1009);
  });

  it('is upgraded at /graphql only', async () => {
    const socket = new WebSocket(`${url}/elsewhere`, 'graphql-transport-ws');
    const fault = await new Promise<Error>(resolve => socket.on('error', resolve));
    expect(fault.message).toContain('404');
  });

  it('gets a goodbye when the server closes', async () => {
    const own = await openOwn();
    const opened = createClient({
      url: `${(await own.listen('127.0.0.1', 0)).replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    });
    const closed = codeOf(opened);
    const events = opened.iterate({ query: 'subscription { sold { item } }' });
    shop.sales.push(sale(1, 'apple'));
    await events.next();
    events.next().catch(() => {});
    await own.close();
    expect(await closed).toBe(1001);
    expect(shop.sales.released).toBe(true);
  });

  it('and whoever is answered in events is cut off without `complete`, to come back', async () => {
    const own = await openOwn();
    const query = new URLSearchParams({ query: 'subscription { sold { item } }' });
    const answer = await fetch(`${await own.listen('127.0.0.1', 0)}/graphql/stream?${query}`);
    shop.sales.push(sale(1, 'apple'));
    let text = '';
    const reading = (async () => {
      for await (const bytes of answer.body ?? []) text += Buffer.from(bytes).toString();
    })();
    await expect.poll(() => text).toContain('apple');
    await own.close();
    await reading;
    expect(text).toBe(':\n\nevent: next\ndata: {"data":{"sold":{"item":"apple"}}}\n\n');
    expect(shop.sales.released).toBe(true);
  });
});

/** A server that its test closes. */
async function openOwn() {
  return openServer({
    graph: await openShop(),
    createContext: async () => shopContext(shop),
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
}
