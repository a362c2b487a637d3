import { type Client, createClient, type ExecutionResult } from 'graphql-ws';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { openServer, type Server } from '../../../gateway/http/server.ts';
import { agentId } from '../../../schema/ids.ts';
import { nobody, type Principal } from '../../../schema/principal.ts';
import type { SessionWatcher } from '../../../subgraphs/live.ts';
import { DatabaseAway } from '../../../subgraphs/outage.ts';
import { logTo, neverHalted, openShop, Shop, sale, shopContext } from '../../harness/graph/shop.ts';

let shop = new Shop();
let server: Server;
let url: string;
/** The callbacks that the server registered for ended sessions. */
let watcher: SessionWatcher;
/** Delays `catchUp` until it is resolved. */
let pendingCheck: PromiseWithResolvers<void> | null = null;
let rotated = false;
let fault: Error | null = null;
let looks = 0;

beforeAll(async () => {
  server = await openServer({
    graph: await openShop(),
    createContext: async () => shopContext(shop),
    callers: {
      ...neverHalted,
      bookOfSession: async () => null,
      keep: async () => null,
      async identify({ sessions: [session = null], address }): Promise<Principal> {
        looks++;
        if (fault && session !== null) throw fault;
        if (session === null) return { ...nobody, address };
        const alive = session === 'right' && !rotated;
        const possession = alive
          ? ({ kind: 'proven', agent_id: agentId(7), session_hash: '', by: 'session' } as const)
          : ({ kind: 'wrong' } as const);
        return { ...nobody, address, possession };
      },
      createContext: principal => shopContext(shop, { principal }),
      async watchSessions(given) {
        watcher = given;
        return () => {};
      },
      catchUp: async () => pendingCheck?.promise,
    },
    logger: logTo([]),
    graphiql: false,
  });
  url = (await server.listen('127.0.0.1', 0)).replace('http', 'ws');
});
afterAll(() => server.close());
beforeEach(() => {
  shop = new Shop();
  rotated = false;
  fault = null;
  pendingCheck = null;
});

function client(connectionParams: Record<string, unknown> = {}): Client {
  const opened = createClient({ url: `${url}/graphql`, webSocketImpl: WebSocket, connectionParams, retryAttempts: 0 });
  onTestFinished(() => void opened.dispose());
  return opened;
}

/** A subscription that has had its first event. `heard` is what came since. */
async function follow(connectionParams: Record<string, unknown> = { session: 'right' }) {
  const opened = client(connectionParams);
  const closed = new Promise<number>(resolve => opened.on('closed', event => resolve((event as CloseEvent).code)));
  const events = opened.iterate({ query: 'subscription { sold { item } }' });
  shop.sales.push(sale(1, 'apple'));
  expect((await events.next()).value).toEqual({ data: { sold: { item: 'apple' } } });
  const heard: ExecutionResult[] = [];
  void (async () => {
    for await (const event of events) heard.push(event as ExecutionResult);
  })().catch(() => {});
  return { closed, heard };
}

const aWhile = () => new Promise(resolve => setTimeout(resolve, 50));
const pear = { data: { sold: { item: 'pear' } } };

describe('a socket that showed a session', () => {
  it.each([
    ['its session is told to have ended', 7],
    ['some session may have ended unheard of, after a reconnect', null],
  ])('ends with 4403 and without any event once %s', async (_, agent_id) => {
    const { closed, heard } = await follow();
    rotated = true;
    watcher.onEnded(agent_id);
    shop.sales.push(sale(2, 'pear'));
    expect(await closed).toBe(4403);
    await expect.poll(() => shop.sales.released).toBe(true);
    expect(heard).toEqual([]);
  });

  it('lets no event out before every end of a session was heard of that came before it', async () => {
    const { closed, heard } = await follow();
    pendingCheck = Promise.withResolvers();
    rotated = true;
    shop.sales.push(sale(2, 'pear'));
    await aWhile();
    watcher.onEnded(7);
    pendingCheck.resolve();
    expect(await closed).toBe(4403);
    expect(heard).toEqual([]);
  });

  it('goes on where a session of another agent ends, or its own is looked at again and lives', async () => {
    const { heard } = await follow();
    const before = looks;
    watcher.onEnded(8);
    expect(looks).toBe(before);
    watcher.onEnded(7);
    await expect.poll(() => looks).toBe(before + 1);
    watcher.onEnded(null);
    await expect.poll(() => looks).toBe(before + 2);
    shop.sales.push(sale(2, 'pear'));
    await expect.poll(() => heard).toEqual([pear]);
    expect(looks).toBe(before + 2);
  });

  it('is held back while no end of a session would be heard of, and gets what came meanwhile', async () => {
    const { heard } = await follow();
    watcher.onLost();
    shop.sales.push(sale(2, 'pear'));
    await aWhile();
    expect(heard).toEqual([]);
    watcher.onEnded(null);
    await expect.poll(() => heard).toEqual([pear]);
  });

  it('is closed where its session ended while nothing was heard', async () => {
    const { closed, heard } = await follow();
    watcher.onLost();
    rotated = true;
    shop.sales.push(sale(2, 'pear'));
    watcher.onEnded(null);
    expect(await closed).toBe(4403);
    expect(heard).toEqual([]);
  });

  it('waits, neither closed nor told anything, until the database can be asked again', async () => {
    const { heard } = await follow();
    fault = new DatabaseAway(new Error('gone'));
    const before = looks;
    watcher.onEnded(7);
    shop.sales.push(sale(2, 'pear'));
    await expect.poll(() => looks).toBeGreaterThan(before + 1);
    expect(heard).toEqual([]);
    fault = null;
    await expect.poll(() => heard).toEqual([pear]);
  });

  it('takes no new operation while it is held back', async () => {
    const opened = client({ session: 'right' });
    const ask = async () => {
      for await (const result of opened.iterate({ query: '{ sales(first: 1) { item } }' })) return result;
    };
    await ask();
    watcher.onLost();
    let answered = false;
    const answer = ask().finally(() => {
      answered = true;
    });
    await aWhile();
    expect(answered).toBe(false);
    watcher.onEnded(null);
    expect(await answer).toEqual({ data: { sales: [{ item: 'apple' }] } });
  });

  it('ends with 4500 where a fault of ours keeps it from being looked at again', async () => {
    const { closed } = await follow();
    fault = new Error('a bug');
    watcher.onEnded(7);
    expect(await closed).toBe(4500);
  });
});

it('a socket that showed no session is never looked at again, nor held back', async () => {
  // A socket that showed a session keeps the watch open.
  await follow();
  shop = new Shop();
  const { heard } = await follow({});
  const before = looks;
  pendingCheck = Promise.withResolvers();
  watcher.onLost();
  shop.sales.push(sale(2, 'pear'));
  await expect.poll(() => heard).toEqual([pear]);
  expect(looks).toBe(before);
  watcher.onEnded(null);
});
