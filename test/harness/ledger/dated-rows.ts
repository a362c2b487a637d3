import { agentId } from '../../../schema/ids.ts';
import { appendRow, headOf, lockBooks, storeBooks, storeNewRows } from '../../../subgraphs/book/ledger/append.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { collectedFactsOf } from './fixture.ts';

type Birth = ReturnType<typeof collectedFactsOf>;

type DatedRow = Partial<Birth> & { readonly at: string };

/** Rows in one transaction. Few enough that a transaction is never idle for a second, even on a busy machine. */
const AT_ONCE = 50;

/** Appends rows of one book that were collected at given times. Their receipts and leaves are not written. */
export async function insertRowsAt(database: Database, agent: number, rows: readonly DatedRow[]): Promise<void> {
  for (let from = 0; from < rows.length; from += AT_ONCE)
    await landTogether(database, agent, rows.slice(from, from + AT_ONCE));
}

async function landTogether(database: Database, agent: number, rows: readonly DatedRow[]): Promise<void> {
  await database.transaction(async tx => {
    const books = await lockBooks(tx, [agentId(agent)]);
    const born = rows.map(({ at, ...differently }) => {
      const head = headOf(books, agentId(agent));
      const number = head.seq + 1;
      const appended = appendRow(
        head,
        { ...collectedFactsOf(`task_${agent}_${number}`, number), ...differently },
        Date.parse(at),
      );
      books.set(agentId(agent), appended.head);
      return appended;
    });
    storeNewRows(
      tx,
      born.map(({ row }) => row),
    );
    storeBooks(
      tx,
      books,
      born.map(({ event }) => event),
    );
  });
}
