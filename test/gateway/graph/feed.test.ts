import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../schema/limits.ts';
import { bookFeed } from '../../../subgraphs/book/page/feed.resolver.ts';
import type { Live, Wake } from '../../../subgraphs/live.ts';
import { shareReads } from '../../../subgraphs/live-feed.ts';
import { DatabaseAway } from '../../../subgraphs/outage.ts';

const AGENT = 7;
interface Event {
  readonly position: number;
}

/** A ledger in memory whose reads and wake-ups happen when the test says so, in any order. */
class FakeLedger implements Live {
  readonly events: Event[] = [];
  readonly watchers = new Set<Wake>();
  /** Sent and not delivered yet. */
  readonly wakes: number[] = [];
  reads = 0;
  page_max = 0;
  listening = true;
  /** Turns of the loop that the coming reads take, before and after their snapshot; repeated for ever. */
  delays: readonly number[] = [1];

  append(): void {
    this.events.push({ position: this.events.length + 1 });
    // Outside of LISTEN a notification is gone for good.
    if (this.listening) this.wakes.push(this.events.length);
  }

  async watch(_agent_id: number, wake: Wake): Promise<() => void> {
    await soon();
    this.watchers.add(wake);
    return () => this.watchers.delete(wake);
  }

  async watchSessions(): Promise<() => void> {
    return () => {};
  }

  async catchUp(): Promise<void> {}

  async close(): Promise<void> {}

  wake(position: number | null): void {
    for (const watcher of this.watchers) watcher(position);
  }

  reconnect(): void {
    this.listening = true;
    this.wakes.length = 0;
    this.wake(null);
  }

  read = async (_agent_id: number, after: number, limit: number): Promise<Event[]> => {
    const [before, behind] = [this.#delay(this.reads * 2), this.#delay(this.reads * 2 + 1)];
    this.reads++;
    await turns(before);
    const page = this.events.slice(after, after + limit);
    await turns(behind);
    this.page_max = Math.max(this.page_max, page.length);
    return page;
  };

  #delay(read: number): number {
    return this.delays[read % this.delays.length] ?? 1;
  }
}

const soon = () => new Promise(setImmediate);
const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await soon();
};
const settle = () => turns(40);

type Step = 'append' | 'join' | 'deliver' | 'double' | 'reverse' | 'lose' | 'reconnect' | 'pause';
const steps = fc.array(
  fc.constantFrom<Step>('append', 'join', 'deliver', 'double', 'reverse', 'lose', 'reconnect', 'pause'),
  {
    maxLength: 60,
  },
);

const scenarios = fc.record({
  stored: fc.nat(20),
  after: fc.nat(25),
  shared: fc.boolean(),
  delays: fc.array(fc.nat(6), { minLength: 1, maxLength: 7 }),
  moves: steps,
});

async function play(ledger: FakeLedger, step: Step): Promise<void> {
  if (step === 'append') ledger.append();
  if (step === 'pause') await soon();
  if (step === 'lose') ledger.listening = false;
  if (step === 'reconnect') ledger.reconnect();
  if (step === 'reverse') ledger.wakes.reverse();
  if (step === 'double') ledger.wake(ledger.wakes[0] ?? ledger.events.length);
  if (step === 'deliver') {
    const position = ledger.wakes.shift();
    if (position !== undefined) ledger.wake(position);
  }
}

function collect(feed: AsyncIterableIterator<Event>): { positions: number[]; ended: Promise<void> } {
  const positions: number[] = [];
  const ended = (async () => {
    for await (const { position } of feed) positions.push(position);
  })();
  return { positions, ended };
}

const from = (after: number, to: number) =>
  Array.from({ length: Math.max(0, to - after) }, (_, index) => after + index + 1);

describe('a feed', () => {
  it('hands on every event after its start once and in order, whatever becomes of the wake-ups', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async ({ stored, after, shared, delays, moves }) => {
        const ledger = new FakeLedger();
        ledger.delays = delays;
        for (let i = 0; i < stored; i++) ledger.append();
        ledger.wakes.length = 0;
        const read = shared ? shareReads(ledger.read) : ledger.read;
        const open = (start: number) => {
          const feed = bookFeed(ledger, read, AGENT, start);
          return { start, feed, ...collect(feed) };
        };
        const readers = [open(after), open(0), open(Math.min(after, stored))];
        for (const move of moves) {
          if (move === 'join') readers.push(open(ledger.events.length));
          else await play(ledger, move);
        }
        // What was sent and not lost arrives in the end; a loss always ends in a reconnect.
        if (!ledger.listening) ledger.reconnect();
        while (ledger.wakes.length > 0) await play(ledger, 'deliver');
        await settle();
        for (const { start, feed, positions, ended } of readers) {
          expect(positions).toEqual(from(start, ledger.events.length));
          await feed.return?.();
          await ended;
        }
        expect(ledger.watchers.size).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  it('reads a long ledger in pages and holds one at a time', async () => {
    const ledger = new FakeLedger();
    const total = limits.feed_page_events_max * 2 + 5;
    for (let i = 0; i < total; i++) ledger.append();
    const feed = bookFeed(ledger, ledger.read, AGENT, 0);
    for (let position = 1; position <= limits.feed_page_events_max; position++) {
      expect((await feed.next()).value).toEqual({ position });
      expect(ledger.reads).toBe(1);
    }
    const { positions, ended } = collect(feed);
    await settle();
    expect(positions).toEqual(from(limits.feed_page_events_max, total));
    expect([ledger.reads, ledger.page_max]).toEqual([3, limits.feed_page_events_max]);
    await feed.return?.();
    await ended;
  });

  it('does not read for a slow reader until it asks, however many wake-ups come', async () => {
    const ledger = new FakeLedger();
    ledger.append();
    const feed = bookFeed(ledger, ledger.read, AGENT, 0);
    await feed.next();
    for (let i = 0; i < 1_000; i++) ledger.append();
    for (const position of ledger.wakes) ledger.wake(position);
    await settle();
    expect(ledger.reads).toBe(1);
    expect((await feed.next()).value).toEqual({ position: 2 });
    await feed.return?.();
  });

  it('reads nothing for a wake-up that tells what it has seen', async () => {
    const ledger = new FakeLedger();
    ledger.append();
    const feed = bookFeed(ledger, ledger.read, AGENT, 0);
    const { ended, positions } = collect(feed);
    await settle();
    const { reads } = ledger;
    ledger.wake(1);
    ledger.wake(1);
    await settle();
    expect([ledger.reads - reads, positions]).toEqual([0, [1]]);
    await feed.return?.();
    await ended;
  });

  it('ends on return() while it waits, and before it began', async () => {
    const ledger = new FakeLedger();
    const feed = bookFeed(ledger, ledger.read, AGENT, 0);
    const waiting = feed.next();
    await settle();
    expect(await feed.return?.()).toEqual({ done: true, value: undefined });
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(await feed.next()).toEqual({ done: true, value: undefined });
    expect(ledger.watchers.size).toBe(0);
    const unread = bookFeed(ledger, ledger.read, AGENT, 0);
    expect(await unread.return?.()).toEqual({ done: true, value: undefined });
  });

  it('reads again where the database was away: its reader does not notice, and misses nothing', async () => {
    const ledger = new FakeLedger();
    for (let i = 0; i < 3; i++) ledger.append();
    let away = 2;
    const read = async (agent_id: number, after: number, limit: number) => {
      if (away-- > 0) throw new DatabaseAway(new Error('Connection terminated unexpectedly'));
      return ledger.read(agent_id, after, limit);
    };
    const feed = bookFeed(ledger, read, AGENT, 0);
    for (const position of [1, 2, 3]) expect((await feed.next()).value).toEqual({ position });
    await feed.return?.();
    expect(ledger.watchers.size).toBe(0);
  });

  it('passes a failed read on and stops watching', async () => {
    const ledger = new FakeLedger();
    const feed = bookFeed<Event>(ledger, () => Promise.reject(new Error('no database')), AGENT, 0);
    await expect(feed.next()).rejects.toThrow('no database');
    expect(ledger.watchers.size).toBe(0);
  });
});

describe('shared reads', () => {
  it('read the ledger once for all who stand at the same position and heard the same', async () => {
    const ledger = new FakeLedger();
    const read = shareReads(ledger.read);
    const feeds = Array.from({ length: 50 }, () => bookFeed(ledger, read, AGENT, 0));
    const collected = feeds.map(collect);
    await settle();
    const { reads } = ledger;
    ledger.append();
    ledger.wake(1);
    await settle();
    expect(ledger.reads - reads).toBe(1);
    expect(collected.every(({ positions }) => positions.length === 1)).toBe(true);
    for (const feed of feeds) await feed.return?.();
  });

  it('never hand a read that began before the news to one who has heard it', async () => {
    const ledger = new FakeLedger();
    const read = shareReads(ledger.read);
    ledger.delays = [0, 5];
    const old = read(AGENT, 0, 10, 0);
    const unsure = read(AGENT, 0, 10, null);
    await soon();
    ledger.append();
    const after = await Promise.all([read(AGENT, 0, 10, 1), read(AGENT, 0, 10, null)]);
    expect(after).toEqual([[{ position: 1 }], [{ position: 1 }]]);
    expect([await old, await unsure]).toEqual([[], []]);
  });
});
