import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { recheckIngests } from '../../../gateway/reconcile/ingest-finality.ts';
import { agentId, type TaskId } from '../../../schema/ids.ts';
import { networks } from '../../../schema/network.ts';
import { storeIngest } from '../../../subgraphs/book/ingest/references.ts';
import { appendNewRows } from '../../../subgraphs/book/ledger/append-new-rows.ts';
import { systemClock, systemRandom } from '../../../subgraphs/clock.ts';
import type { Database } from '../../../subgraphs/database.ts';
import type { ForeignTransfers, TransferStanding } from '../../../subgraphs/foreign-transfers.ts';
import { auditBooks } from '../../harness/faults/audit-books.ts';
import { collectedFactsOf, withBooks } from '../../harness/ledger/fixture.ts';
import { freshStore } from '../../harness/store.ts';

let database: Awaited<ReturnType<typeof freshStore>>;
let book = 0;
beforeAll(async () => {
  database = await freshStore();
});
beforeEach(async () => {
  book++;
  await database.query({ text: 'delete from foreign_ingest' });
  await withBooks(database, book);
});

const task = (number: number) => `task_${book}_${book * 1_000 + number}`;

/** A row of spend elsewhere, which is not final yet. */
async function recorded(number: number): Promise<void> {
  const born = { ...collectedFactsOf(task(number), book * 1_000 + number), evidence: 'foreign_ingest' as const };
  await database.transaction(async tx => {
    await appendNewRows(tx, [{ agent_id: agentId(book), birth: born, owed: true }]);
    storeIngest(tx, agentId(book), factOf(number), Date.now() - 60_000);
  });
}

/** Its transaction is called as its task is. */
function factOf(number: number) {
  const what = {
    network: 'base',
    rail: 'usdc',
    asset: networks.base.usdc,
    transaction: task(number),
    index: 0,
  } as const;
  const who = { payer: `0x${'11'.repeat(20)}`, pay_to: `0x${'22'.repeat(20)}`, amount: '2000' };
  const seen_in = { block_number: 7, block_hash: `0x${'33'.repeat(32)}`, final: false };
  return {
    task_id: task(number) as TaskId,
    transfer: { ...what, ...who },
    seen_in,
    payer_proven: true,
    merchant_signed: false,
  };
}

/** A round in which the chain says that of each; of all others nothing. */
function recheck(said: Readonly<Record<string, TransferStanding['kind']>>, by: Database = database): Promise<void> {
  const standing: ForeignTransfers['standing'] = async ({ transaction }, seen_in) => {
    const kind = said[transaction] ?? 'unknown';
    return kind === 'pending' ? { kind, seen_in } : { kind };
  };
  return recheckIngests({ database: by, transfers: { standing }, clock: systemClock, random: systemRandom });
}

const standings = async () => {
  const text = 'select task_id, standing from foreign_ingest order by task_id';
  return (await database.query<{ standing: string }>({ text })).map(({ standing }) => standing);
};
const corrections = () =>
  database.query({
    text: `select evidence, amount, facts->>'corrects' as corrects, facts->>'reason' as reason from book_row
      where agent_id = $1 and facts ? 'corrects' order by seq`,
    values: [book],
  });
const by_rail = async () => {
  const text = 'select by_rail from book where agent_id = $1';
  return (await database.query<{ by_rail: object }>({ text, values: [book] }))[0]?.by_rail;
};
const reason = 'The final chain of base does not have this transfer.';

describe('recorded payments to others', () => {
  it('are final, looked at again, or corrected, as their chain says', async () => {
    for (const number of [1, 2, 3, 4]) await recorded(number);
    await recheck({ [task(1)]: 'final', [task(2)]: 'vanished', [task(3)]: 'pending' });
    expect(await standings()).toEqual(['final', 'vanished', 'pending', 'pending']);
    expect(await corrections()).toEqual([{ evidence: 'UNVERIFIED', amount: null, corrects: task(2), reason }]);
    expect(await by_rail()).toEqual({ usdc: { count: 3, amount: '6000' } });
    await auditBooks(database);
  });

  it('are corrected once, by whomever of several', async () => {
    await recorded(1);
    const round = () => recheck({ [task(1)]: 'vanished' });
    await Promise.all([round(), round(), round()]);
    await round();
    expect(await corrections()).toHaveLength(1);
    expect(await by_rail()).toEqual({});
    await auditBooks(database);
  });

  it('are corrected by the next round where a process is killed before it can commit', async () => {
    await recorded(1);
    // What the database sees of such a death: the connection is gone, and its transaction with it.
    const transaction: typeof database.transaction = work =>
      database.transaction(async tx => {
        const done = await work(tx);
        const { rows } = await tx.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' });
        await database.query({ text: 'select pg_terminate_backend($1, 5000)', values: [rows[0]?.pid] });
        return done;
      });
    await expect(recheck({ [task(1)]: 'vanished' }, { ...database, transaction })).rejects.toThrow();
    expect([await standings(), await corrections()]).toEqual([['pending'], []]);
    await recheck({ [task(1)]: 'vanished' });
    expect(await corrections()).toHaveLength(1);
    await auditBooks(database);
  });
});
