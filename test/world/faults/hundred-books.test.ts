import { beforeAll, expect, it } from 'vitest';
import {
  type BookCursor,
  type BookTransport,
  createBookFollower,
  type FollowedEvent,
} from '../../../rest-compat/client/book-follower.ts';
import { bookSocket } from '../../../rest-compat/client/book-socket.ts';
import { bookStream } from '../../../rest-compat/client/book-stream.ts';
import { openBreakableConnection } from '../../harness/breakable-connection.ts';
import { answerTo, newBuyer } from '../../harness/faults/buyer.ts';
import type { DyingService } from '../../harness/faults/dying-service.ts';
import { eventually, type Ground, openGround } from '../../harness/faults/ground.ts';
import { ownPort } from '../../harness/own-port.ts';

/* A hundred books, each with its own follower, while connections are cut and a gateway is killed and started again. */

const BOOKS = 100;
const AT_ONCE = 20;

type Buyer = Awaited<ReturnType<typeof newBuyer>>;
let ground: Ground;
let gateway: DyingService;
let port: number;
let buyers: Buyer[];
const books: { readonly agent_id: number; readonly session: string }[] = [];
let bought = 0;

beforeAll(async () => {
  [ground, port] = [await openGround(), await ownPort()];
  gateway = await ground.startDying({ port });
  buyers = await Promise.all(Array.from({ length: BOOKS }, () => newBuyer(ground)));
  await eachOf(buyers, async buyer => {
    const { status, body } = await answerTo(gateway, await buyer.registration());
    expect(status).toBe(200);
    books.push({ agent_id: Number(body.agent_id), session: String(body.session) });
  });
});

async function eachOf(them: readonly Buyer[], act: (buyer: Buyer) => Promise<void>): Promise<void> {
  for (let from = 0; from < them.length; from += AT_ONCE) await Promise.all(them.slice(from, from + AT_ONCE).map(act));
}

/** Lets some of the buyers buy, while other books get no event. */
async function buy(count: number): Promise<void> {
  await eachOf(buyers.slice(0, count), async buyer => {
    expect((await answerTo(gateway, await buyer.chat(`call ${bought++}`))).status).toBe(200);
  });
}

/** Stores received events by book. An event that is delivered twice is stored twice. */
function memory() {
  const held = new Map<number, FollowedEvent[]>();
  const cursors = new Map<number, BookCursor>();
  return {
    held,
    count: () => [...held.values()].reduce((sum, events) => sum + events.length, 0),
    load: (agent_id: number) => cursors.get(agent_id) ?? null,
    apply(event: FollowedEvent, cursor: BookCursor) {
      held.set(event.agent_id, [...(held.get(event.agent_id) ?? []), event]);
      cursors.set(event.agent_id, cursor);
    },
  };
}

const written = () =>
  ground.database.query({
    text: 'select agent_id, position, hash from book_event order by agent_id, position',
    values: [],
  });

it.each<[string, BookTransport]>([
  ['server-sent events', bookStream],
  ['graphql-ws', bookSocket],
])('each event of a hundred books is taken once by %s, over a cut line and a killed gateway', async (_, over) => {
  const line = await openBreakableConnection(gateway.url);
  const store = memory();
  const ends: string[] = [];
  const follower = createBookFollower({
    url: line.url,
    books,
    store,
    over,
    on_end: ({ kind }) => ends.push(kind),
  });
  const caughtUp = async () => {
    const wanted = await written();
    await eventually('all of it is held', () => store.count() >= wanted.length || null);
    const held = [...store.held.values()].flat().map(({ agent_id, position, hash }) => ({ agent_id, position, hash }));
    expect(held.sort((a, b) => a.agent_id - b.agent_id || a.position - b.position)).toEqual(wanted);
  };
  await caughtUp();
  expect(store.held.size).toBe(BOOKS);
  await buy(AT_ONCE);
  line.cut();
  await buy(AT_ONCE);
  await caughtUp();
  await gateway.kill();
  gateway = await ground.startDying({ port });
  await buy(AT_ONCE);
  await caughtUp();
  expect(ends).toEqual([]);
  await follower.close();
  expect(await follower.ended).toHaveLength(BOOKS);
});
