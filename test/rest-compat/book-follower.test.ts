import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { type BookCursor, createBookFollower, type FollowedEvent } from '../../rest-compat/client/book-follower.ts';
import { canonicalHash } from '../../schema/canonical-json.ts';

/* How a follower reacts to a service that lies, refuses or breaks off; what an honest one sends is in test/faults. */

const SESSION = 'a-session-that-nobody-sees';

function eventAt(position: number, prev_hash: string, agent_id = 7): FollowedEvent {
  const said = { agent_id, position, kind: 'born', seq: position, task_id: `task_${position}`, body: { position } };
  const whole = { ...said, at: '2026-11-26T00:00:00.000Z', prev_hash };
  return { ...whole, hash: canonicalHash(whole), row: null };
}
const first = eventAt(1, '');
const second = eventAt(2, first.hash);
const third = eventAt(3, second.hash);

interface FollowRequest {
  readonly url: string;
  readonly session: string | undefined;
  readonly after: number;
}
/** A status (403 is the service's own), a proxy's page, or the items sent before it breaks off; `errors` is one of those. */
type ScriptedAnswer = number | string | readonly (FollowedEvent | { readonly code: string })[];

/** The nth connection is answered with the nth of these, and each later one with the last. */
async function serve(answers: readonly ScriptedAnswer[]) {
  const asked: FollowRequest[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const said = answers[Math.min(asked.length, answers.length - 1)] ?? 500;
    const session = request.headers['x-svc-session'] as string | undefined;
    asked.push({ url: request.url ?? '', session, after: JSON.parse(text).variables.after });
    if (typeof said === 'string') return void response.writeHead(403, { 'content-type': 'text/html' }).end(said);
    if (typeof said === 'number') {
      const errors = [{ message: 'No.', extensions: { code: said === 403 ? 'forbidden' : 'unavailable' } }];
      return void response.writeHead(said).end(JSON.stringify({ errors }));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n');
    for (const one of said) {
      const result = 'code' in one ? { errors: [{ message: '', extensions: one }] } : { data: { event: one } };
      response.write(`event: next\ndata: ${JSON.stringify(result)}\n\n`);
    }
    response.end();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** A store in memory that may fail the first time it gets a certain event. */
function storeOf(fails_at?: { readonly position: number; readonly committed: boolean }) {
  const held: FollowedEvent[] = [];
  let cursor: BookCursor | null = null;
  let failing = fails_at;
  return {
    held,
    load: () => cursor,
    apply(event: FollowedEvent, next: BookCursor) {
      const fails = failing?.position === event.position ? failing : undefined;
      if (fails) failing = undefined;
      if (!fails || fails.committed) {
        held.push(event);
        cursor = next;
      }
      if (fails) throw new Error('the store is away');
    },
  };
}

async function follow(answers: readonly ScriptedAnswer[], store = storeOf()) {
  const service = await serve(answers);
  const faults: unknown[] = [];
  const books = [{ agent_id: 7, session: SESSION }];
  const follower = createBookFollower({
    url: service.url,
    books,
    store,
    on_trouble: ({ fault }) => faults.push(fault),
  });
  onTestFinished(() => follower.close());
  const [end] = await follower.ended;
  return { ...service, held: store.held, end, faults };
}

const FORBIDDEN = [{ code: 'forbidden' }] as const;

it('comes back from its cursor when the line breaks off, and takes what was sent again once', async () => {
  const { held, asked, end } = await follow([[first, second], 503, [second, third], FORBIDDEN]);
  expect(held).toEqual([first, second, third]);
  expect(asked.map(({ after }) => after)).toEqual([0, 2, 2, 3]);
  expect(end).toMatchObject({ kind: 'refused', code: 'forbidden', cursor: { position: 3, hash: third.hash } });
});

it('comes back where somebody on the way says no: a page, nothing, or more than anybody reads', async () => {
  const { held, end } = await follow(['<h1>Forbidden</h1>', '', ' '.repeat(1_000_000), [first], 403]);
  expect(held).toEqual([first]);
  expect(end).toMatchObject({ kind: 'refused', code: 'forbidden' });
});

it('shows its session in a header and nowhere else, also not in what it tells of trouble', async () => {
  const { asked, faults } = await follow([[first], 502, 403]);
  for (const { url, session } of asked) expect([url, session]).toEqual(['/graphql/stream', SESSION]);
  expect(faults.length).toBeGreaterThan(0);
  for (const fault of faults) expect(`${fault} ${JSON.stringify(fault)}`).not.toContain(SESSION);
});

it.each([
  ['altered', { ...second, body: { position: 22 } }],
  ['unchained', eventAt(2, '0'.repeat(64))],
  ['gap', third],
] as const)('ends a book as unproven where what comes is %s', async (why, event) => {
  const { held, end } = await follow([[first, event], [event]]);
  expect(held).toEqual([first]);
  expect(end).toMatchObject({ kind: 'unproven', why, event, cursor: { position: 1 } });
});

it('asks again where an event did not come, before it calls that a gap', async () => {
  const { held, end } = await follow([[first, third], [second, third], 403]);
  expect(held).toEqual([first, second, third]);
  expect(end).toMatchObject({ kind: 'refused', code: 'forbidden' });
});

it('takes the event of another book for none of this one', async () => {
  const { held, end } = await follow([[eventAt(1, '', 8)]]);
  expect([held, end]).toMatchObject([[], { kind: 'unproven', why: 'altered' }]);
});

it.each([true, false])('asks the store where it stands when that failed and had committed: %s', async committed => {
  const { held, asked } = await follow(
    [[first, second], [second, third], [third], 403],
    storeOf({ position: 2, committed }),
  );
  expect(held).toEqual([first, second, third]);
  expect(asked[1]?.after).toBe(committed ? 2 : 1);
});

it('is closed while it waits to come back', async () => {
  const { url } = await serve([503]);
  const store = storeOf();
  const { promise: troubled, resolve } = Promise.withResolvers<void>();
  const follower = createBookFollower({
    url,
    books: [{ agent_id: 7, session: () => SESSION }],
    store,
    on_trouble: () => resolve(),
  });
  await troubled;
  await follower.close();
  expect(await follower.ended).toMatchObject([{ agent_id: 7, kind: 'closed', cursor: { position: 0 } }]);
});

it('asks for its session again where that is refused: it may have been rotated', async () => {
  const service = await serve([[first], 403, [second], FORBIDDEN]);
  const store = storeOf();
  const follower = createBookFollower({
    url: service.url,
    // A refused session is rotated once: the second one is in force until it is refused as well.
    books: [{ agent_id: 7, session: () => (service.asked.length < 2 ? 'first' : 'second') }],
    store,
  });
  onTestFinished(() => follower.close());
  const [end] = await follower.ended;
  expect(store.held).toEqual([first, second]);
  expect(service.asked.map(({ session }) => session)).toEqual(['first', 'first', 'second', 'second']);
  expect(end).toMatchObject({ kind: 'refused', code: 'forbidden', cursor: { position: 2 } });
});

it('counts gaps anew once the book has moved', async () => {
  const [fourth, skipped] = [eventAt(4, third.hash), eventAt(9, '')];
  const { held, end } = await follow([
    [first, skipped],
    [second, skipped],
    [third, skipped],
    [fourth, skipped],
    FORBIDDEN,
  ]);
  expect(held).toEqual([first, second, third, fourth]);
  expect(end).toMatchObject({ kind: 'refused' });
});

it('is broken by no listener that throws', async () => {
  const { url } = await serve([[first], 503, FORBIDDEN]);
  const fails = () => {
    throw new Error('nobody listens');
  };
  const books = [{ agent_id: 7, session: SESSION }];
  const follower = createBookFollower({ url, books, store: storeOf(), on_trouble: fails, on_end: fails });
  expect(await follower.ended).toMatchObject([{ kind: 'refused', cursor: { position: 1 } }]);
});

it('takes a position that is not a safe integer for a fault, and asks again', async () => {
  const { held, faults } = await follow([[eventAt(2 ** 53, '')], [first], FORBIDDEN]);
  expect(held).toEqual([first]);
  expect(String(faults[0])).toContain('not a safe integer');
});

it('refuses a book that is listed twice', () => {
  const books = [7, 8, 7].map(agent_id => ({ agent_id, session: SESSION }));
  expect(() => createBookFollower({ url: 'http://127.0.0.1:9', books, store: storeOf() })).toThrow(TypeError);
});
