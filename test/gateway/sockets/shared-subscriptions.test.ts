import { type Client, createClient, type ExecutionResult } from 'graphql-ws';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { DatabaseAway } from '../../../subgraphs/outage.ts';
import { openTicker, type Tick } from '../../harness/graph/ticker.ts';

let server: Awaited<ReturnType<typeof openTicker>>;
beforeEach(async () => {
  server = await openTicker();
});
afterEach(() => server.close());

function client(session: string | null = 'of 7'): Client {
  const opened = createClient({
    url: server.url,
    webSocketImpl: WebSocket,
    connectionParams: session === null ? {} : { session },
    retryAttempts: 0,
    // Operation ids as clients choose them: some unique, some the same.
    generateID: () => (Math.random() < 0.5 ? 'the same' : crypto.randomUUID()),
  });
  onTestFinished(() => void opened.dispose());
  return opened;
}

const QUERY = 'subscription ($after: Int) { ticks(agentId: 7, after: $after) { position text } }';
type Ticks = ExecutionResult<{ ticks: Tick }>;

/** Events of a subscription, in the order of arrival. */
function follow({ session, query = QUERY, variables = {} }: { session?: string; query?: string; variables?: object }) {
  const events = client(session).iterate<{ ticks: Tick }>({ query, variables: { ...variables } });
  const heard: Ticks[] = [];
  let fault: unknown = null;
  void (async () => {
    for await (const event of events) heard.push(event as Ticks);
  })().catch(error => {
    fault = error;
  });
  return {
    heard,
    leave: () => events.return?.(),
    positions: () => heard.map(({ data }) => data?.ticks.position),
    fault: () => fault,
  };
}

const upTo = (last: number, first = 1) => Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
const opened = (count: number) => expect.poll(() => server.ticker.opened).toBe(count);
const aWhile = () => new Promise(resolve => setTimeout(resolve, 50));

describe('subscribers to the same events with the same rights', () => {
  it('share one source, opened once for all who come at once, and one execution of each event', async () => {
    const followers = Array.from({ length: 40 }, () => follow({ variables: { after: 0 } }));
    await opened(1);
    for (let tick = 1; tick <= 5; tick++) {
      server.ticker.append();
      for (const { positions } of followers) await expect.poll(positions).toEqual(upTo(tick));
    }
    expect(server.ticker.executed).toEqual(upTo(5));
    for (const { heard } of followers) expect(heard[4]).toEqual({ data: { ticks: { position: 5, text: 'tick' } } });
    expect(server.ticker.opened).toBe(1);
  });

  it('need not spell it the same: position, names of what is not asked for and white space are left out', async () => {
    const followers = [
      follow({ variables: { after: 0 } }),
      follow({ query: 'subscription { ticks(agentId: 7, after: 0) { position,  text } }' }),
      follow({ query: 'subscription ($x: Int = 0) { ticks(after: $x, agentId: 7) { position text } } # mine' }),
      follow({
        query: '{ kept } subscription S { ticks(agentId: 7, after: 0) { position text } }'.replace('{ kept }', ''),
      }),
    ];
    await opened(2);
    server.ticker.append();
    for (const { positions } of followers) await expect.poll(positions).toEqual([1]);
    // The last operation has a name, so it does not share the source of the others.
    expect([server.ticker.executed, server.ticker.opened]).toEqual([[1, 1], 2]);
  });

  it('give the source back when the last of them leaves, and the next opens another', async () => {
    const followers = [follow({ variables: { after: 0 } }), follow({ variables: { after: 0 } })];
    server.ticker.append();
    for (const { positions } of followers) await expect.poll(positions).toEqual([1]);
    await followers[0]?.leave();
    server.ticker.append();
    await expect.poll(() => followers[1]?.positions()).toEqual([1, 2]);
    await followers[1]?.leave();
    await expect.poll(() => server.ticker.released >= server.ticker.opened).toBe(true);
    const { opened: before } = server.ticker;
    const later = follow({ variables: { after: 1 } });
    await expect.poll(later.positions).toEqual([2]);
    expect(server.ticker.opened).toBeGreaterThan(before);
  });

  it('get frames of any length whole', async () => {
    const follower = follow({});
    await opened(2);
    for (const length of [1, 60, 125, 126, 5_000, 65_000, 65_535, 70_000, 200_000]) {
      const text = 'ü'.repeat(length);
      server.ticker.append(text);
      await expect.poll(() => follower.heard.at(-1)?.data?.ticks.text === text).toBe(true);
    }
  });
});

describe('subscribers who differ in what an event depends on', () => {
  it.each([
    ['another agent', { session: 'of 8', query: QUERY.replace('7', '8') }],
    ['another session of the same agent', { session: 'of 7 again' }],
    ['another selection', { query: QUERY.replace('text', 'text again: text') }],
    ['another name in the answer', { query: QUERY.replace('ticks(', 'mine: ticks(') }],
    ['another argument', { query: QUERY.replace('agentId: 7,', 'agentId: 7, note: "mine",') }],
    [
      'another variable',
      {
        query: QUERY.replace('$after: Int', '$after: Int, $note: String').replace(
          'agentId: 7,',
          'agentId: 7, note: $note,',
        ),
        variables: { note: 'mine', after: 0 },
      },
    ],
  ])('are executed apart: %s', async (_, other) => {
    follow({ variables: { after: 0 } });
    await opened(1);
    const { heard } = follow({ variables: { after: 0 }, ...other });
    await opened(2);
    server.ticker.append();
    await expect.poll(() => heard.length).toBe(1);
    await expect.poll(() => [...new Set(server.ticker.executed)]).toEqual([1]);
    expect(server.ticker.executed.length).toBeGreaterThanOrEqual(2);
  });

  it('gets the position too where it calls it by the name that is ours', async () => {
    const { heard } = follow({ query: 'subscription { ticks(agentId: 7, after: 0) { _position: position text } }' });
    await opened(1);
    server.ticker.append();
    await expect.poll(() => heard).toEqual([{ data: { ticks: { _position: 1, text: 'tick' } } }]);
  });

  it('are refused where they may not, whoever is allowed beside them', async () => {
    follow({ variables: { after: 0 } });
    await opened(1);
    const [stranger, other] = [follow({ session: null as never }), follow({ session: 'of 8' })];
    await expect.poll(() => stranger.heard[0]?.errors?.[0]?.extensions?.code).toBe('unauthenticated');
    await expect.poll(() => other.heard[0]?.errors?.[0]?.extensions?.code).toBe('forbidden');
    expect(server.ticker.opened).toBe(1);
  });
});

describe('whoever joins', () => {
  it('gets what came after its position, each once and in order, while others are told and more is written', async () => {
    for (let tick = 0; tick < 150; tick++) server.ticker.append();
    const joined: { after: number; positions(): unknown[] }[] = [];
    for (let round = 0; round < 30; round++) {
      const after = round % 3 === 0 ? server.ticker.ticks.length : (round * 37) % server.ticker.ticks.length;
      joined.push({ after, ...follow({ variables: { after } }) });
      for (let tick = 0; tick < 10; tick++) server.ticker.append();
      await new Promise(resolve => setTimeout(resolve, round % 5));
    }
    for (const { after, positions } of joined) {
      await expect.poll(positions).toEqual(upTo(450, after + 1));
    }
    // Each reader has its own replay; at the end all share one source again.
    const before = server.ticker.executed.length;
    server.ticker.append();
    for (const { positions } of joined) await expect.poll(() => positions().at(-1)).toBe(451);
    expect(server.ticker.executed.length - before).toBe(1);
  });

  it('without a position gets what is new, and with a negative one that many of the newest', async () => {
    for (let tick = 0; tick < 5; tick++) server.ticker.append();
    const first = follow({});
    await aWhile();
    const followers = [first, follow({}), follow({})];
    const newest = follow({ variables: { after: -2 } });
    await expect.poll(newest.positions).toEqual([4, 5]);
    await aWhile();
    server.ticker.append();
    for (const { positions } of followers) await expect.poll(positions).toEqual([6]);
    await expect.poll(newest.positions).toEqual([4, 5, 6]);
  });

  it('without a position and before there was anything, gets the first', async () => {
    const followers = [follow({}), follow({})];
    await opened(3);
    server.ticker.append();
    server.ticker.append();
    for (const { positions } of followers) await expect.poll(positions).toEqual([1, 2]);
  });

  it('from a position that is not reached yet hears nothing until then', async () => {
    const [ahead, level] = [follow({ variables: { after: 2 } }), follow({ variables: { after: 0 } })];
    await opened(1);
    for (let tick = 0; tick < 3; tick++) server.ticker.append();
    await expect.poll(level.positions).toEqual([1, 2, 3]);
    await expect.poll(ahead.positions).toEqual([3]);
  });
});

describe('whoever is held back', () => {
  it('gets afterwards what it missed, without an execution of its own; a dead session gets nothing', async () => {
    const followers = [follow({ variables: { after: 0 } }), follow({ session: 'of 7 again', variables: { after: 0 } })];
    await opened(2);
    server.ticker.append();
    for (const { positions } of followers) await expect.poll(positions).toEqual([1]);
    server.ticker.watcher?.onLost();
    for (let tick = 0; tick < 5; tick++) server.ticker.append();
    await expect.poll(() => server.ticker.executed).toHaveLength(12);
    await aWhile();
    for (const { positions } of followers) expect(positions()).toEqual([1]);
    server.dead.add('of 7 again');
    server.ticker.watcher?.onEnded(null);
    await expect.poll(followers[0]?.positions ?? (() => [])).toEqual(upTo(6));
    await expect.poll(() => followers[1]?.fault()).toMatchObject({ code: 4403 });
    expect(followers[1]?.positions()).toEqual([1]);
    expect(server.ticker.executed).toHaveLength(12);
  });
});

describe('a source that fails', () => {
  it('is not noticed where the database is away', async () => {
    const followers = [follow({ variables: { after: 0 } }), follow({ variables: { after: 0 } })];
    await opened(1);
    server.ticker.append();
    for (const { positions } of followers) await expect.poll(positions).toEqual([1]);
    server.ticker.fault = () => new DatabaseAway(new Error('gone'));
    server.ticker.append();
    await expect.poll(() => server.ticker.opened).toBe(2);
    server.ticker.fault = null;
    server.ticker.append();
    for (const { positions } of followers) await expect.poll(positions).toEqual([1, 2, 3]);
  });

  it('shows all of them the event that broke, and goes on', async () => {
    const followers = [follow({ variables: { after: 0 } }), follow({ variables: { after: 0 } })];
    await opened(1);
    server.ticker.append();
    for (const { positions } of followers) await expect.poll(positions).toEqual([1]);
    server.ticker.fault = () => new Error('a bug at 10.0.0.7');
    server.ticker.append();
    for (const { heard } of followers)
      await expect.poll(() => heard[1]?.errors?.[0]?.extensions?.code).toBe('internal');
    server.ticker.fault = null;
    server.ticker.append();
    for (const { positions } of followers) await expect.poll(positions).toEqual([1, undefined, 3]);
  });

  it('keeps nobody from coming by its newest event being broken', async () => {
    server.ticker.append();
    server.ticker.append();
    server.ticker.fault = () => new Error('a bug at 10.0.0.7');
    const followers = [follow({ variables: { after: 0 } }), follow({ variables: { after: 2 } })];
    await opened(1);
    await aWhile();
    server.ticker.fault = null;
    server.ticker.append();
    await expect.poll(followers[0]?.positions ?? (() => [])).toEqual([1, 2, 3]);
    await expect.poll(followers[1]?.positions ?? (() => [])).toEqual([3]);
  });
});
