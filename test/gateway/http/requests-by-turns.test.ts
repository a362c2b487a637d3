import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openServer, type Server } from '../../../gateway/http/server.ts';
import { Precedence, precedenceLimits, type Turns } from '../../../gateway/operations/precedence.ts';
import { nobody } from '../../../schema/principal.ts';
import { logTo, neverHalted, openShop, Shop, shopContext } from '../../harness/graph/shop.ts';

/** A loop that lets nothing in before `release`. */
function heldLoop() {
  const steps: (() => void)[] = [];
  let is_held = true;
  const turns: Turns = {
    now_ms: () => performance.now(),
    next(count, step) {
      for (let at = 0; at < count; at++)
        if (is_held) steps.push(step);
        else setImmediate(step);
    },
    after: (ms, run) => void setTimeout(run, ms),
  };
  const release = () => {
    is_held = false;
    for (const step of steps) setImmediate(step);
  };
  return { turns, release };
}

let loop: ReturnType<typeof heldLoop>;
let precedence: Precedence;
let server: Server;
let url: string;

beforeEach(async () => {
  loop = heldLoop();
  const reached = Promise.withResolvers<void>();
  precedence = new Precedence(loop.turns, { ...precedenceLimits, waiting_per_caller_max: 4, counted_ms_max: 60_000 });
  const shop = new Shop();
  server = await openServer({
    graph: await openShop({ log: [], introspection: false }),
    createContext: async () => shopContext(shop, { pays: false }),
    callers: {
      ...neverHalted,
      identify: async () => nobody,
      bookOfSession: async () => null,
      keep: async () => null,
      createContext: principal => shopContext(shop, { principal }),
      watchSessions: async () => () => {},
      catchUp: async () => {},
    },
    async routes(app) {
      app.get('/free', async () => 'free');
      app.get('/endless', () => {
        reached.resolve();
        return new Promise(() => {});
      });
    },
    precedence,
    logger: logTo([]),
    graphiql: false,
  });
  url = await server.listen('127.0.0.1', 0);
  precedence.begin(precedence, 'a payer');
  // It takes the place of the one free request that may be in progress beside a paid call.
  endless = new AbortController();
  fetch(`${url}/endless`, { signal: endless.signal }).catch(() => {});
  await reached.promise;
});

let endless: AbortController;
afterEach(async () => {
  endless.abort();
  loop.release();
  await server.close();
});

const waiting = () => expect.poll(() => precedence.waiting);
const ask = async (path: string, init?: RequestInit) => {
  const answer = await fetch(url + path, init);
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};
const query = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"query":"{ __typename }"}' };

it('holds free requests by REST and GraphQL beside a paid call, and answers all of them afterwards', async () => {
  const answers = [ask('/free'), ask('/graphql', query), ask('/nowhere')];
  await waiting().toBe(3);
  precedence.end(precedence);
  endless.abort();
  loop.release();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 404]);
  expect(precedence.waiting).toBe(0);
});

it('refuses a request beyond the bound with 503 and Retry-After before anything is done', async () => {
  const answers = Array.from({ length: 4 }, () => ask('/free'));
  await waiting().toBe(4);
  const refused = await ask('/free', { headers: { origin: 'https://page.example' } });
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('5');
  expect(JSON.parse(refused.text)).toMatchObject({ code: 'unavailable', status: 503 });
  endless.abort();
  loop.release();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
});

it('forgets a request whose client disconnects while it waits', async () => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write('GET /free HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
  await waiting().toBe(1);
  socket.destroy();
  await waiting().toBe(0);
});
