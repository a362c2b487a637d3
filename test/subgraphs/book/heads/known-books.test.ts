import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { agentId } from '../../../../schema/ids.ts';
import { KnownBooks } from '../../../../subgraphs/book/heads/known-books.ts';
import { SavedHeads } from '../../../../subgraphs/book/heads/saved-heads.ts';
import { appendEvent, headOf, lockBooks, storeBooks } from '../../../../subgraphs/book/ledger/append.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { LogHalted } from '../../../../subgraphs/receipt/log/halt.ts';
import { KnownLog } from '../../../../subgraphs/receipt/log/known-log.ts';
import { withBooks } from '../../../harness/ledger/fixture.ts';
import { atEnd } from '../../../harness/release.ts';
import { clearScratch, makeScratch } from '../../../harness/scratch.ts';
import { freshStore } from '../../../harness/store.ts';

/** What one process knows of three books, each with two events that it has committed. */
async function threeBooks() {
  const store = await freshStore();
  await withBooks(store, 1, 2, 3);
  const folder = await makeScratch();
  atEnd(() => clearScratch(folder));
  const path = join(folder, 'book-heads.jsonl');
  const open = async () => {
    const log = new KnownLog();
    const books = new KnownBooks(log, new SavedHeads(path));
    atEnd(() => books.close());
    const { broken } = await books.open(store);
    return { log, books, broken, database: books.knowing(store, { waits: true }) };
  };
  const opened = await open();
  for (const agent of [1, 2, 3, 1, 2, 3]) await append(opened.database, agent);
  return { store, path, open, ...opened };
}

async function append(database: Database, ...agents: number[]): Promise<void> {
  const ids = agents.map(agentId);
  await database.transaction(async tx => {
    const books = await lockBooks(tx, ids);
    const events = ids.map(agent_id => {
      const what = { kind: 'budget_changed', seq: null, task_id: null, body: {} } as const;
      const { head, event } = appendEvent(headOf(books, agent_id), what, '2026-01-02T03:04:05.678Z');
      books.set(agent_id, head);
      return event;
    });
    storeBooks(tx, books, events);
  });
}

/** Without the newest event. */
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
  // From now on no book is written, also none that stands.
  await expect(append(database, 3)).rejects.toThrow(LogHalted);
  expect(await eventsOf(store)).toEqual(before);
});

it.each([
  ['gone', 'delete from book where agent_id = $1'],
  [
    'as long with another event',
    "update book_event set hash = 'x' where agent_id = $1; update book set event_hash = 'x' where agent_id = $1",
  ],
  [
    'longer without the event that was committed',
    `update book_event set hash = 'x' where agent_id = $1 and position = 2;
      update book set position = 3, event_hash = 'y' where agent_id = $1`,
  ],
])('an append to a book that is %s halts the log', async (_how, text) => {
  const { store, log, database } = await threeBooks();
  await run(store, text);
  await expect(append(database, 2)).rejects.toThrow(LogHalted);
  expect(log.mismatch?.books).toMatchObject({ count: 1, books: [{ agent_id: 2 }] });
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
  expect(second.broken).toEqual([]);
  await second.books.saved();
  for (const agent of [1, 2]) await run(store, SET_BACK, agent);
  await run(
    store,
    'delete from book_event where agent_id = $1 and position = 3; delete from book where agent_id = $1',
    3,
  );
  const third = await open();
  expect(third.broken.toSorted((one, other) => one.agent_id - other.agent_id)).toMatchObject([
    { agent_id: 1, known: { position: 2 }, found: { position: 1 } },
    { agent_id: 2, known: { position: 2 }, found: { position: 1 } },
    { agent_id: 3, known: { position: 3 }, found: null },
  ]);
});
