import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { bookFeed } from '../../subgraphs/book/page/feed.resolver.ts';
import type { Database } from '../../subgraphs/database.ts';
import { type Live, type LiveTasks, openLive } from '../../subgraphs/live.ts';
import { BOOK_CHANNEL, CANCELED_CHANNEL, type CanceledNotice, SESSION_CHANNEL } from '../../subgraphs/live-channels.ts';
import { LIVE_APPLICATION } from '../../subgraphs/live-connection.ts';
import { shareReads } from '../../subgraphs/live-feed.ts';
import { freshStore } from '../harness/store.ts';

let database: Database;

beforeAll(async () => {
  database = await freshStore();
  await database.query({ text: 'create table ledger_head (agent_id integer primary key, position integer not null)' });
  await database.query({
    text: 'create table ledger_event (agent_id integer, position integer, primary key (agent_id, position))',
  });
});

let agent_id = 0;
beforeEach(async () => {
  await database.query({ text: 'insert into ledger_head values ($1, 0)', values: [++agent_id] });
});

function live(): Live & LiveTasks {
  const opened = openLive(database);
  onTestFinished(() => opened.close());
  return opened;
}

/** Appends an event in one transaction as the real ledger does: locks the head, writes the event and notifies. */
async function append(agent = agent_id): Promise<void> {
  await database.transaction(async tx => {
    const { rows } = await tx.query({
      text: 'update ledger_head set position = position + 1 where agent_id = $1 returning position',
      values: [agent],
    });
    const { position } = rows[0] as { position: number };
    tx.write({ text: 'insert into ledger_event values ($1, $2)', values: [agent, position] });
    tx.write({ text: 'select pg_notify($1, $2)', values: [BOOK_CHANNEL, `${agent}:${position}`] });
  });
}

const LISTENERS = `from pg_stat_activity where datname = current_database() and application_name = '${LIVE_APPLICATION}'`;

async function cutListeners(): Promise<void> {
  await database.query({ text: `select pg_terminate_backend(pid) ${LISTENERS}` });
}

describe('a process that cannot listen', () => {
  it('hears nothing until it can, and says so once each way', async () => {
    let deaf = false;
    const told: string[] = [];
    const opened = openLive(
      { connect: () => (deaf ? Promise.reject(new Error('no way there')) : database.connect()) },
      { onLost: fault => told.push(String(fault)), onRestored: () => told.push('restored') },
    );
    onTestFinished(() => opened.close());
    expect(opened.listens).toBe(false);
    await opened.watch(agent_id, () => {});
    expect([opened.listens, told]).toEqual([true, []]);
    deaf = true;
    await cutListeners();
    await expect.poll(() => [opened.listens, told]).toEqual([false, ['Error: no way there']]);
    deaf = false;
    await expect.poll(() => [opened.listens, told]).toEqual([true, ['Error: no way there', 'restored']]);
  });
});

describe('live wake-ups', () => {
  it('tell the newest position of the book that is watched, and of no other', async () => {
    const wakes: (number | null)[] = [];
    await live().watch(agent_id, position => wakes.push(position));
    await database.query({ text: 'insert into ledger_head values ($1, 0)', values: [agent_id + 1_000] });
    await append(agent_id + 1_000);
    await append();
    await append();
    await expect.poll(() => wakes).toEqual([1, 2]);
  });

  it('share one connection, opened by the first watcher', async () => {
    const opened = live();
    const count = async () =>
      (await database.query<{ count: number }>({ text: `select count(*) ${LISTENERS}` }))[0]?.count;
    expect(await count()).toBe(0);
    await Promise.all(Array.from({ length: 20 }, (_, index) => opened.watch(index, () => {})));
    expect(await count()).toBe(1);
  });

  it('stop for whoever stopped', async () => {
    const opened = live();
    const [stopped, going]: [unknown[], unknown[]] = [[], []];
    const stop = await opened.watch(agent_id, position => stopped.push(position));
    await opened.watch(agent_id, position => going.push(position));
    stop();
    await append();
    await expect.poll(() => going).toEqual([1]);
    expect(stopped).toEqual([]);
  });

  it('come once without a position after a reconnect, and then go on', async () => {
    const wakes: (number | null)[] = [];
    await live().watch(agent_id, position => wakes.push(position));
    await cutListeners();
    await expect.poll(() => wakes).toEqual([null]);
    await append();
    await expect.poll(() => wakes).toEqual([null, 1]);
  });

  it('are refused once closed', async () => {
    const opened = openLive(database);
    await opened.close();
    await expect(opened.watch(agent_id, () => {})).rejects.toMatchObject({ code: 'unavailable' });
    await expect(opened.watchSessions(into([]))).rejects.toMatchObject({ code: 'unavailable' });
  });
});

it('a task that is canceled is told of by its name, to those who watch', async () => {
  const told: (CanceledNotice | null)[] = [];
  const stop = await live().watchCanceled(notice => told.push(notice));
  const notices = [
    { task_id: 'task-1', by: null },
    { task_id: 'task-2', by: { payer: 'payer', paid_from_mark: 'mark' } },
  ];
  for (const notice of notices)
    await database.query({
      text: 'select pg_notify($1, $2)',
      values: [CANCELED_CHANNEL, JSON.stringify(notice)],
    });
  await expect.poll(() => told).toEqual(notices);
  stop();
});

it('whoever watches canceled tasks is told to look once nothing was heard for a while, and goes on hearing', async () => {
  const told: (CanceledNotice | null)[] = [];
  await live().watchCanceled(notice => told.push(notice));
  await cutListeners();
  await expect.poll(() => told).toEqual([null]);
  const notice = { task_id: 'task-3', by: null };
  await database.query({ text: 'select pg_notify($1, $2)', values: [CANCELED_CHANNEL, JSON.stringify(notice)] });
  await expect.poll(() => told).toEqual([null, notice]);
});

/** Collects what a watcher of sessions receives, in order. */
const into = (told: unknown[]) => ({
  onEnded: (agent: number | null) => void told.push(agent),
  onLost: () => void told.push('lost'),
});

describe('the end of sessions', () => {
  const end = (agent: number | string) =>
    database.query({ text: 'select pg_notify($1, $2)', values: [SESSION_CHANNEL, agent] });

  it('is told of every agent, and not as news of its book', async () => {
    const opened = live();
    const [ended, wakes]: [unknown[], unknown[]] = [[], []];
    await opened.watchSessions(into(ended));
    await opened.watch(agent_id, position => wakes.push(position));
    await end(agent_id);
    await append();
    await end('nobody');
    await end(agent_id + 1);
    await expect.poll(() => ended).toEqual([agent_id, agent_id + 1]);
    expect(wakes).toEqual([1]);
  });

  it('is told only when it is committed', async () => {
    const ended: unknown[] = [];
    await live().watchSessions(into(ended));
    const undone = database.transaction(async tx => {
      tx.write({ text: 'select pg_notify($1, $2)', values: [SESSION_CHANNEL, '1'] });
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await end(2);
    await expect.poll(() => ended).toEqual([2]);
  });

  it('is told as null after a reconnect, of whose need it is told at once: any may have ended meanwhile', async () => {
    const ended: unknown[] = [];
    await live().watchSessions(into(ended));
    await cutListeners();
    await expect.poll(() => ended).toEqual(['lost', null]);
    await end(3);
    await expect.poll(() => ended).toEqual(['lost', null, 3]);
  });

  it('has been told before `heard` resolves, where it was committed before the call', async () => {
    const opened = live();
    const ended: unknown[] = [];
    await opened.watchSessions(into(ended));
    for (let agent = 1; agent <= 50; agent++) {
      await end(agent);
      await Promise.all([opened.catchUp(), opened.catchUp()]);
      expect(ended).toHaveLength(agent);
    }
  });

  it('`catchUp` waits while no notice can arrive, and then for the notice that the connection was lost', async () => {
    const opened = live();
    const ended: unknown[] = [];
    await opened.watchSessions(into(ended));
    await cutListeners();
    await end(1);
    await opened.catchUp();
    // The connection was cut before or after the notice arrived. In both cases the watcher must receive something.
    expect(ended).not.toEqual([]);
    expect(ended).not.toEqual(['lost']);
  });

  it('sends nothing to a watcher that stopped', async () => {
    const opened = live();
    const [stopped, going]: [unknown[], unknown[]] = [[], []];
    const stop = await opened.watchSessions(into(stopped));
    await opened.watchSessions(into(going));
    stop();
    await end(4);
    await expect.poll(() => going).toEqual([4]);
    expect(stopped).toEqual([]);
  });
});

describe('a feed on Postgres', () => {
  it('hands on every event once and in order while writers race and the connection is cut', async () => {
    const opened = live();
    const read = shareReads(async (agent: number, after: number, limit: number) =>
      database.query<{ position: number }>({
        name: 'events',
        text: 'select position from ledger_event where agent_id = $1 and position > $2 order by position limit $3',
        values: [agent, after, limit],
      }),
    );
    for (let i = 0; i < 30; i++) await append();
    const feeds = [0, 10, 30].map(after => ({ after, feed: bookFeed(opened, read, agent_id, after) }));
    const total = 330;
    const collected = feeds.map(async ({ after, feed }) => {
      const positions: number[] = [];
      while (after + positions.length < total) positions.push((await feed.next()).value?.position ?? -1);
      await feed.return?.();
      return positions;
    });
    const writer = async () => {
      for (let i = 0; i < 100; i++) await append();
    };
    await Promise.all([writer(), writer(), writer(), cutListeners()]);
    for (const [index, after] of [0, 10, 30].entries()) {
      expect(await collected[index]).toEqual(Array.from({ length: total - after }, (_, at) => after + at + 1));
    }
  });
});
