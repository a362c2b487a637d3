import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { atomicAmount } from '../../../../schema/amount.ts';
import { agentId } from '../../../../schema/ids.ts';
import { arrive } from '../../../../subgraphs/book/ledger/arrive.ts';
import { reserve, voidReservations } from '../../../../subgraphs/book/ledger/reserve.ts';
import { pageHead } from '../../../../subgraphs/book/page/page.ts';
import { rowScope } from '../../../../subgraphs/book/page/row-scope.ts';
import { spendingOf } from '../../../../subgraphs/book/page/spending.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import {
  collectAll,
  collection,
  refuser,
  reservationFor,
  vouchedCollection,
  withBooks,
} from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Database;
let book = 0;
beforeAll(async () => {
  database = await freshStore();
});

async function newBook(budget_atomic: bigint | null): Promise<void> {
  await withBooks(database, ++book);
  await database.query({
    text: 'update book set budget_atomic = $2 where agent_id = $1',
    values: [book, budget_atomic?.toString() ?? null],
  });
}
const spending = async () => (await pageHead(database, rowScope(agentId(book), { limit: 1 }), null))?.spending;
const landing = (...items: readonly ReturnType<typeof vouchedCollection>[]) =>
  database.transaction(tx => collectAll(tx, items));
const task = (number: number) => `task_${book}_${number}`;

describe('what a book has spent', () => {
  it('is collected amounts alone: one that nobody has seen is pending, until it arrives', async () => {
    await newBook(10_000n);
    await landing(collection(book, 1), vouchedCollection(book, 2, 500n));
    expect(await spending()).toEqual({ cap: 10_000n, spent: 2000n, remaining: 8000n, pending: 500n, available: 7500n });
    const ingress_receipt = { ref: `base:0x${'cd'.repeat(32)}`, confirmed_at: '2026-03-01T10:30:00.000Z' };
    await database.transaction(tx => arrive(tx, [{ task_id: task(2), to: 'collected', ingress_receipt }]));
    expect(await spending()).toEqual({ cap: 10_000n, spent: 2500n, remaining: 7500n, pending: 0n, available: 7500n });
  });

  it('one that is given up is neither spent nor pending', async () => {
    await newBook(null);
    await landing(collection(book, 1), vouchedCollection(book, 2, 500n));
    await database.transaction(tx => arrive(tx, [{ task_id: task(2), to: 'ARRIVAL_UNVERIFIED', omission_rule: 'no' }]));
    expect(await spending()).toEqual({ cap: null, spent: 2000n, remaining: null, pending: 0n, available: null });
  });

  it('what a call in progress holds is pending, until it is given back', async () => {
    await newBook(10_000n);
    await database.transaction(tx => reserve(tx, refuser, [reservationFor(book, 1)]));
    expect(await spending()).toMatchObject({ spent: 0n, remaining: 10_000n, pending: 2000n, available: 8000n });
    await database.transaction(tx => voidReservations(tx, [{ agent_id: agentId(book), amount: atomicAmount(2000n) }]));
    expect(await spending()).toMatchObject({ pending: 0n, available: 10_000n });
  });

  it('ceilings count what is pending: no call passes that available does not cover', async () => {
    await newBook(4000n);
    await landing(vouchedCollection(book, 1));
    await database.transaction(tx => reserve(tx, refuser, [reservationFor(book, 2)]));
    expect(await spending()).toMatchObject({ spent: 0n, remaining: 4000n, pending: 4000n, available: 0n });
    const [refused] = await database.transaction(tx => reserve(tx, refuser, [reservationFor(book, 3)]));
    expect(refused?.kind).toBe('blocked');
  });

  it('spent and pending are what ceilings count, and nothing that is left is below zero', () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 15n }).map(atomicAmount);
    fc.assert(
      fc.property(
        fc.option(amount),
        amount,
        amount,
        amount,
        (budgetAtomic, collected, unseenAtomic, reservedAtomic) => {
          const spentAtomic = atomicAmount(collected + unseenAtomic);
          const it = spendingOf({ budgetAtomic, spentAtomic, unseenAtomic, reservedAtomic });
          expect(it.spent).toBe(collected);
          expect(it.spent + it.pending).toBe(spentAtomic + reservedAtomic);
          if (budgetAtomic === null) return;
          const left = budgetAtomic - spentAtomic - reservedAtomic;
          expect(it.available).toBe(left > 0n ? left : 0n);
        },
      ),
    );
  });
});
