import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { type BookCursor, createBookFollower, type FollowedEvent } from '../../rest-compat/client/book-follower.ts';
import { bookSocket } from '../../rest-compat/client/book-socket.ts';
import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';

/* How a follower by graphql-ws reacts to a service that lies, refuses or breaks off; what an honest one sends is in test/faults. */

const SESSION = 'a-session-that-nobody-sees';

function chainOf(length: number): FollowedEvent[] {
  const events: FollowedEvent[] = [];
  for (let position = 1; position <= length; position++) {
    const said = {
      agent_id: 7,
      position,
      kind: 'born',
      seq: position,
      task_id: `task_${position}`,
      body: { position },
    };
    const whole = { ...said, at: '2026-11-26T00:00:00.000Z', prev_hash: events.at(-1)?.hash ?? '' };
    events.push({ ...whole, hash: canonicalHash(whole), row: null });
  }
  return events;
}
const [first, second, third] = chainOf(3) as [FollowedEvent, FollowedEvent, FollowedEvent];

/** How a socket is answered: the messages about its opening, then about the book, then how it is closed. */
interface Script {
  readonly acknowledges?: boolean;
  readonly events?: readonly FollowedEvent[];
  /** Codes of an `error` that ends the subscription. */
  readonly refuses?: string;
  readonly completes?: boolean;
  readonly closes?: number;
}

/** The nth socket is answered with the nth of these, and each later one with the last. */
async function serve(scripts: readonly Script[]) {
  const asked: { url: string; init: JsonObject; after: number }[] = [];
  let sockets = 0;
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, handleProtocols: () => 'graphql-transport-ws' });
  server.on('connection', (socket, request) => {
    const script = scripts[Math.min(sockets++, scripts.length - 1)] ?? {};
    let init: JsonObject = {};
    socket.on('message', data => {
      const { type, id, payload } = JSON.parse(String(data));
      if (type === 'connection_init') {
        init = payload;
        if (script.acknowledges === false) return socket.close(script.closes);
        return say(socket, { type: 'connection_ack' });
      }
      if (type === 'ping') return say(socket, { type: 'pong' });
      if (type !== 'subscribe') return;
      asked.push({ url: String(request.url), init, after: payload.variables.after });
      for (const event of script.events ?? []) say(socket, { type: 'next', id, payload: { data: { event } } });
      if (script.refuses)
        say(socket, { type: 'error', id, payload: [{ message: '', extensions: { code: script.refuses } }] });
      if (script.completes) say(socket, { type: 'complete', id });
      if (script.closes !== undefined) socket.close(script.closes);
    });
  });
  await new Promise<void>(resolve => server.once('listening', resolve));
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, server };
}

const say = (socket: WebSocket, message: JsonObject | object) => socket.send(JSON.stringify(message));

interface FollowOptions {
  readonly session?: () => string;
  /** Called for each socket that closed. */
  readonly hungUp?: () => void;
  /** The store finishes each event only once this resolves. */
  readonly working?: Promise<void>;
}

async function follow(scripts: readonly Script[], { session = () => SESSION, hungUp, working }: FollowOptions = {}) {
  const service = await serve(scripts);
  service.server.on('connection', socket => socket.once('close', () => hungUp?.()));
  const held: FollowedEvent[] = [];
  const faults: unknown[] = [];
  let cursor: BookCursor | null = null;
  const follower = createBookFollower({
    url: service.url,
    books: [{ agent_id: 7, session }],
    over: bookSocket,
    store: {
      load: () => cursor,
      async apply(event, next) {
        await working;
        held.push(event);
        cursor = next;
      },
    },
    on_trouble: ({ fault }) => faults.push(fault),
  });
  onTestFinished(() => follower.close());
  const [end] = await follower.ended;
  return { ...service, held, faults, end };
}

const FORBIDDEN: Script = { acknowledges: false, closes: 4403 };

it('comes back from its cursor when the socket breaks off, and takes what was sent again once', async () => {
  const { held, asked, end } = await follow([
    { events: [first, second], closes: 1013 },
    { closes: 1001 },
    { events: [second, third], completes: true },
    FORBIDDEN,
  ]);
  expect(held).toEqual([first, second, third]);
  expect(asked.map(({ after }) => after)).toEqual([0, 2, 2]);
  expect(end).toMatchObject({ kind: 'refused', code: 'forbidden', cursor: { position: 3, hash: third.hash } });
});

it('shows its session at connection_init and nowhere else, also not in what it tells of trouble', async () => {
  const { asked, faults } = await follow([{ events: [first], closes: 1011 }, { closes: 4429 }, FORBIDDEN]);
  for (const { url, init } of asked) expect([url, init]).toEqual(['/graphql', { session: SESSION }]);
  expect(faults).toHaveLength(2);
  for (const fault of faults) expect(`${fault} ${JSON.stringify(fault)}`).not.toContain(SESSION);
});

it.each<[string, Script, string]>([
  ['closed as forbidden while it is followed', { events: [first], closes: 4403 }, 'forbidden'],
  ['closed as asked wrongly', { acknowledges: false, closes: 4400 }, 'invalid_request'],
  ['refused by an error of its own', { events: [first], refuses: 'forbidden' }, 'forbidden'],
])('ends a book that is %s', async (_, script, code) => {
  const { end, asked } = await follow([script]);
  expect(end).toMatchObject({ kind: 'refused', code });
  expect(asked.length).toBeLessThanOrEqual(1);
});

it('comes back after an error that passes', async () => {
  const { held } = await follow([{ refuses: 'rate_limited' }, { events: [first], refuses: 'unavailable' }, FORBIDDEN]);
  expect(held).toEqual([first]);
});

it.each([
  ['altered', { ...second, body: { position: 22 } }],
  ['unchained', { ...second, prev_hash: '0'.repeat(64) }],
  ['gap', third],
] as const)('ends a book as unproven where what comes is not the next: %s', async (_, event) => {
  const { held, end } = await follow([{ events: [first, event] }, { events: [event] }]);
  expect(held).toEqual([first]);
  expect(end).toMatchObject({ kind: 'unproven', event, cursor: { position: 1 } });
});

it('takes no more ahead than it may: it hangs up, works that off, and asks for the rest', async () => {
  const events = chainOf(2_500);
  const [more, rest] = [events.slice(1_000, 1_900), events.slice(1_900)];
  const hungUp = Promise.withResolvers<void>();
  const { held, asked } = await follow(
    [{ events }, { events: more, closes: 1001 }, { events: rest, closes: 1001 }, FORBIDDEN],
    // Nothing is taken until the first socket is closed, so everything that it sends is still waiting.
    { hungUp: hungUp.resolve, working: hungUp.promise },
  );
  expect(held).toEqual(events);
  expect(asked).toHaveLength(3);
  expect(asked[1]?.after).toBeGreaterThanOrEqual(1_000);
  expect(asked[1]?.after).toBeLessThanOrEqual(1_001);
});

it('is asked for its session anew for each socket, and takes no refusal of that for one of the book', async () => {
  const sessions = ['first', 'second'];
  const { asked, held } = await follow(
    [{ events: [first], closes: 1001 }, {}, { events: [second], closes: 1001 }, FORBIDDEN],
    {
      session() {
        const next = sessions.shift();
        if (next === 'second') throw new Error('nobody knows it for now');
        return next ?? SESSION;
      },
    },
  );
  expect(asked.map(({ init }) => init.session)).toEqual(['first', SESSION]);
  expect(held).toEqual([first, second]);
});

it('is closed while it listens, and leaves no socket behind', async () => {
  const { url, asked, server } = await serve([{ events: [first] }]);
  const taken = Promise.withResolvers<void>();
  const follower = createBookFollower({
    url,
    books: [{ agent_id: 7, session: SESSION }],
    over: bookSocket,
    store: { load: () => null, apply: () => taken.resolve() },
  });
  await taken.promise;
  await follower.close();
  expect(await follower.ended).toMatchObject([{ agent_id: 7, kind: 'closed', cursor: { position: 1 } }]);
  await expect.poll(() => server.clients.size).toBe(0);
  expect(asked).toHaveLength(1);
});

it('asks for its session again where a socket is refused: it may have been rotated', async () => {
  const sessions = ['old', 'old', 'new'];
  const { asked, held, end } = await follow(
    [{ events: [first], closes: 1001 }, FORBIDDEN, { events: [second], closes: 4403 }],
    {
      session: () => sessions.shift() ?? 'new',
    },
  );
  expect(held).toEqual([first, second]);
  expect(asked.map(({ init }) => init.session)).toEqual(['old', 'new']);
  expect(end).toMatchObject({ kind: 'refused', code: 'forbidden' });
});
