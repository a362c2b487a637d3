import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { agentId } from '../../../../schema/ids.ts';
import { leaveCredential } from '../../../../subgraphs/book/heads/book-changes.ts';
import { isEventHead } from '../../../../subgraphs/book/heads/compare.ts';
import { KnownBooks } from '../../../../subgraphs/book/heads/known-books.ts';
import { booksRolledBack } from '../../../../subgraphs/book/heads/rollback.ts';
import { SavedHeads } from '../../../../subgraphs/book/heads/saved-heads.ts';
import { brokenBook } from '../../../../subgraphs/book/heads/stand.ts';
import { appendEvent, headOf, lockBooks, storeBooks } from '../../../../subgraphs/book/ledger/append.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { LogHalted } from '../../../../subgraphs/receipt/log/halt.ts';
import { KnownLog } from '../../../../subgraphs/receipt/log/known-log.ts';
import { withBooks } from '../../../harness/ledger/fixture.ts';
import { atEnd } from '../../../harness/release.ts';
import { clearScratch, makeScratch } from '../../../harness/scratch.ts';
import { freshStore } from '../../../harness/store.ts';

/** The books that one process knows: three, each with two events that it committed. */
async function threeBooks() {
  const store = await freshStore();
  await withBooks(store, 1, 2, 3);
  const folder = await makeScratch();
  atEnd(() => clearScratch(folder));
  const path = join(folder, 'book-heads.jsonl');
  const closed: number[] = [];
  const open = async () => {
    const log = new KnownLog();
    const saved = new SavedHeads(path, { all: () => books.all(store) });
    const books: KnownBooks = new KnownBooks(log, saved, { damaged: agent => void closed.push(agent) });
    atEnd(() => books.close());
    const { broken } = await books.open(store);
    return { log, books, broken, database: books.track(store, { waits: true }) };
  };
  const opened = await open();
  for (const agent of [1, 2, 3, 1, 2, 3]) await append(opened.database, agent);
  return { store, path, open, closed, ...opened };
}

const append = (database: Database, ...agents: number[]) => appendAt(database, '2026-01-02T03:04:05.678Z', agents);

async function appendAt(database: Database, at: string, agents: readonly number[]): Promise<void> {
  const ids = agents.map(agentId);
  await database.transaction(async tx => {
    const books = await lockBooks(tx, ids);
    const events = ids.map(agent_id => {
      const what = { kind: 'budget_changed', seq: null, task_id: null, body: {} } as const;
      const { head, event } = appendEvent(headOf(books, agent_id), what, at);
      books.set(agent_id, head);
      return event;
    });
    storeBooks(tx, books, events);
  });
}

/** SQL that deletes the newest event of a book. */
const SET_BACK = `delete from book_event where agent_id = $1 and position = 2;
  update book set position = 1, event_hash = (select hash from book_event where agent_id = $1 and position = 1) where agent_id = $1`;
const run = async (store: Database, text: string, agent = 2) => {
  for (const statement of text.split(';')) await store.query({ text: statement.replaceAll('$1', String(agent)) });
};
const eventsOf = async (store: Database) =>
  store.query({ text: 'select agent_id, count(*)::int as events from book_event group by 1 order by 1' });

it('an append to a book that was set back halts the log, names the book, and writes nothing to any book', async () => {
  const { store, log, database } = await threeBooks();
  await run(store, SET_BACK);
  const before = await eventsOf(store);
  await expect(append(database, 1, 2)).rejects.toThrow(LogHalted);
  expect(log.mismatch?.books).toMatchObject({
    count: 1,
    books: [{ agent_id: 2, known: { position: 2 }, found: { position: 1 } }],
  });
  // From now on no book is written, not even one that is unchanged.
  await expect(append(database, 3)).rejects.toThrow(LogHalted);
  expect(await eventsOf(store)).toEqual(before);
});

/** Sets the book back and appends other events. */
async function goOnOtherwise(store: Database, events: number): Promise<void> {
  await run(store, SET_BACK);
  for (let event = 0; event < events; event++) await appendAt(store, '2027-01-02T03:04:05.678Z', [2]);
}

it.each([
  ['gone', (store: Database) => run(store, 'delete from book where agent_id = $1')],
  ['as long with another event', (store: Database) => goOnOtherwise(store, 1)],
  ['longer without the event that was committed', (store: Database) => goOnOtherwise(store, 2)],
])('an append to a book that is %s halts the log', async (_how, change) => {
  const { store, log, database, closed } = await threeBooks();
  await change(store);
  await expect(append(database, 2)).rejects.toThrow(LogHalted);
  expect(log.mismatch?.books).toMatchObject({ count: 1, books: [{ agent_id: 2 }] });
  expect(closed).toEqual([]);
});

it.each([
  ['an event that was altered', "update book_event set hash = 'x' where agent_id = $1 and position = 2"],
  ['an event that is missing', 'delete from book_event where agent_id = $1 and position = 2'],
  ['a head that is not where its events end', "update book set event_hash = 'x' where agent_id = $1"],
  ['a head that is shorter than its events', 'update book set position = 1 where agent_id = $1'],
])(
  'a book with %s contradicts itself: it alone is closed, by its audit, at an append, a look and a start',
  async (_what, text) => {
    const { store, path, log, books, database, open, closed } = await threeBooks();
    await run(store, text);
    const again = await open();
    expect(again.broken).toBeNull();
    expect(closed).toEqual([2]);
    await store.query({ text: 'update book set damage = null' });
    // Two callers that find the loss at the same time share one audit.
    await Promise.all([books.look(store), append(database, 2, 3).catch(() => {})]);
    expect(closed).toEqual([2, 2]);
    // A caller that found the loss before that audit, and is checked after it, reports nothing further.
    const [head] =
      (await new SavedHeads(path).read())?.filter(isEventHead).filter(({ agent_id }) => agent_id === 2) ?? [];
    if (!head) throw new Error('no head of the book was saved');
    await booksRolledBack(store, [brokenBook(head, null)], agent => void closed.push(agent));
    expect(closed).toEqual([2, 2]);
    expect(log.mismatch).toBeNull();
  },
);

it('what cannot be saved is 503, and nothing is written by a caller that would wait for it; money is recorded all the same', async () => {
  const { store, books, database, path } = await threeBooks();
  const recording = books.track(store, { waits: false });
  await rm(path);
  await mkdir(path);
  const before = await eventsOf(store);
  const [{ events = 0 } = {}] = before as { events: number }[];
  await expect(append(database, 1)).rejects.toMatchObject({ code: 'unavailable', in_doubt: true });
  expect(books.saves).toBe(false);
  await expect(append(database, 1)).rejects.toMatchObject({ code: 'unavailable', in_doubt: false });
  await append(recording, 1);
  expect((await eventsOf(store))[0]).toMatchObject({ events: events + 2 });
  await rm(path, { recursive: true });
  await expect.poll(() => books.saves).toBe(true);
  await append(database, 1);
});

it('a file that is lost while the process runs is written whole, with what the process knows', async () => {
  const { store, database, path } = await threeBooks();
  await rm(path);
  await append(database, 1);
  const heads = await new SavedHeads(path).read();
  expect(
    heads
      ?.filter(isEventHead)
      .map(({ agent_id, position }) => [agent_id, position])
      .toSorted(),
  ).toEqual([
    [1, 3],
    [2, 2],
    [3, 2],
  ]);
  expect(await eventsOf(store)).toHaveLength(3);
});

it('what others have appended halts nothing, and what was rolled back is not known', async () => {
  const { store, log, database, path } = await threeBooks();
  await append(store, 2);
  await append(database, 2);
  await expect(
    database.transaction(async tx => {
      const books = await lockBooks(tx, [agentId(2)]);
      const what = { kind: 'budget_changed', seq: null, task_id: null, body: {} } as const;
      const { head, event } = appendEvent(headOf(books, agentId(2)), what, '2026-01-02T03:04:05.678Z');
      books.set(agentId(2), head);
      storeBooks(tx, books, [event]);
      throw new Error('rolled back');
    }),
  ).rejects.toThrow('rolled back');
  await append(database, 2);
  expect(log.mismatch).toBeNull();
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ agent_id: 2, position: 5 });
});

it('a look finds a book that was set back before anybody appends to it', async () => {
  const { store, log, books } = await threeBooks();
  await books.look(store);
  await run(store, SET_BACK);
  await expect(books.look(store)).rejects.toThrow(LogHalted);
  expect(log.mismatch?.books).toMatchObject({ count: 1, books: [{ agent_id: 2 }] });
});

it('a book that its audit has closed halts nobody', async () => {
  const { store, log, books, database } = await threeBooks();
  await run(store, `${SET_BACK}; update book set damage = '{}' where agent_id = $1`);
  await books.look(store);
  await append(database, 2);
  expect(log.mismatch).toBeNull();
});

it('a start names every book that went back, and goes on from those that others have gone on with', async () => {
  const { store, open } = await threeBooks();
  await append(store, 3);
  const second = await open();
  expect(second.broken).toBeNull();
  await second.books.whenSaved();
  for (const agent of [1, 2]) await run(store, SET_BACK, agent);
  await run(
    store,
    'delete from book_event where agent_id = $1 and position = 3; delete from book where agent_id = $1',
    3,
  );
  const third = await open();
  expect(third.broken).toMatchObject({
    count: 3,
    books: [
      { agent_id: 1, known: { position: 2 }, found: { position: 1 } },
      { agent_id: 2, known: { position: 2 }, found: { position: 1 } },
      { agent_id: 3, known: { position: 3 }, found: null },
    ],
  });
});

it.each([
  [
    'session',
    `insert into possession (session_hash, session_box, agent_id, issued_at, ended_at) values ($1, '', 1, now(), now())`,
    'delete from possession where session_hash = $1',
  ],
  [
    'revocation',
    `insert into session_revocation (delegation_hash, payer, at, signature, unbound, revoked_at) values ($1, '0x', 1, '0x', false, now())`,
    'delete from session_revocation where delegation_hash = $1',
  ],
] as const)(
  'a %s that is gone halts the log at a look, and a start names it, though no book tells of it',
  async (credential, insert, remove) => {
    const { store, log, books, database, open } = await threeBooks();
    const hash = (digit: string) => digit.repeat(64);
    const add = (digit: string, at: string) =>
      database.transaction(async tx => {
        tx.write({ text: insert, values: [hash(digit)] });
        leaveCredential(tx, { credential, hash: hash(digit), at });
      });
    await add('a', '2026-01-02T03:04:05.678Z');
    await add('b', '2026-01-02T03:04:05.679Z');
    await books.look(store);
    expect((await open()).broken).toBeNull();
    await store.query({ text: remove, values: [hash('b')] });
    await expect(books.look(store)).rejects.toThrow(LogHalted);
    expect(log.mismatch?.books).toEqual({ count: 0, books: [], credentials: 1 });
    expect((await open()).broken).toEqual({ count: 0, books: [], credentials: 1 });
  },
);
