import { beforeAll, describe, expect, it } from 'vitest';
import { isOwnTransfer } from '../../../../subgraphs/receipt/receipt/own-transfer.ts';
import { indexPayments, noteTransfer } from '../../../../subgraphs/receipt/totals/payments.ts';
import { issuer } from '../../../harness/ledger/fixture.ts';
import { openTotals, vouchedCall } from '../../../harness/receipt/totals.ts';
import { atEnd } from '../../../harness/release.ts';

/*
 * Two transfers of one transaction. One pays a receipt that was signed before the transfer was seen and whose transfer index was not
 * stored. The other goes to another payee.
 */

type Totals = Awaited<ReturnType<typeof openTotals>>;

/** Marks the totals as complete, so that only the index answers for a payment. */
const followed = 'update totals_state set tree_size = (select tree_size from log_head)';
let number = 0;

/**
 * A payment whose receipt signs this index, with its transfer on the chain. With `chained` the receipt signs it like a stamp on a book
 * chain.
 */
async function paid(totals: Totals, signed_index: number | null, chained: boolean) {
  number += 2;
  const call = vouchedCall(number, 7, 5n);
  if (call.payment === null) throw new Error('it is paid');
  const { ref: payment_ref, payer, pay_to, asset } = call.payment;
  const transaction = payment_ref.slice('base:'.length);
  const transfer = { network: 'base', rail: 'usdc', asset, transaction, index: 4, payer, pay_to, amount: '5' } as const;
  const observed_transfer = { ...transfer, index: signed_index };
  const money = chained
    ? { payment: null, chained: { observed_transfer, payer_proven: true } }
    : { payment: { ...call.payment, transfer_index: signed_index } };
  await totals.database.issueCalls(issuer, [{ ...call, ...money }]);
  return { task_id: call.task_id, payment_ref, transfer };
}

/** A payment whose receipt has no index and whose transfer was seen later. */
async function paidAndSeen(totals: Totals, transfer_index: number | null, chained: boolean) {
  const { task_id, payment_ref, transfer } = await paid(totals, null, chained);
  await totals.database.transaction(async tx => noteTransfer(tx, { task_id, payment_ref, transfer_index }));
  return transfer;
}

const OTHER = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

const forms = [
  ['payment', false],
  ['book chain', true],
] as const;

describe.each([
  ['before it is counted', (totals: Totals) => totals.database.query({ text: followed })],
  ['after it was counted', (totals: Totals) => totals.integrateAll()],
])('a payment that was seen, %s', (_, follow) => {
  let totals: Totals;
  beforeAll(async () => {
    totals = await openTotals();
    atEnd(() => totals.database.close());
  });
  const isOwn = (transfer: Parameters<typeof isOwnTransfer>[1]) =>
    isOwnTransfer({ database: totals.database, payment_index: indexPayments(totals.database) }, transfer);

  describe.each(forms)('and whose receipt signs it as a %s', (_form, chained) => {
    it('without its index is known by payer and payee, and no other transfer of its transaction is taken for it', async () => {
      const own = await paidAndSeen(totals, null, chained);
      await follow(totals);
      const found = await Promise.all([own, { ...own, payer: OTHER }, { ...own, pay_to: OTHER }].map(isOwn));
      expect(found).toEqual([true, false, false]);
      expect(await isOwn({ ...own, pay_to: own.pay_to.toLowerCase() })).toBe(true);
    });

    it('with its index is known by that alone', async () => {
      const own = await paidAndSeen(totals, 4, chained);
      await follow(totals);
      expect(await Promise.all([own, { ...own, index: 5 }].map(isOwn))).toEqual([true, false]);
    });
  });
});

describe('a payment that is not followed yet', () => {
  let totals: Totals;
  beforeAll(async () => {
    totals = await openTotals();
    atEnd(() => totals.database.close());
  });
  /** The result must be the same with and without the index. */
  const isOwn = async (transfer: Parameters<typeof isOwnTransfer>[1]) => {
    const { database } = totals;
    const [by_index, alone] = await Promise.all(
      [indexPayments(database), null].map(payment_index => isOwnTransfer({ database, payment_index }, transfer)),
    );
    expect(by_index).toBe(alone);
    return alone;
  };

  describe.each(forms)('and whose receipt signs it as a %s', (_form, chained) => {
    it('without its index is known by payer and payee', async () => {
      const { transfer } = await paid(totals, null, chained);
      const lower = { ...transfer, pay_to: transfer.pay_to.toLowerCase() };
      const others = [
        { ...transfer, payer: OTHER },
        { ...transfer, pay_to: OTHER },
      ];
      expect(await Promise.all([transfer, lower, ...others].map(isOwn))).toEqual([true, true, false, false]);
    });

    it('with its index is known by that', async () => {
      const { transfer } = await paid(totals, 4, chained);
      expect(await Promise.all([transfer, { ...transfer, index: 5 }].map(isOwn))).toEqual([true, false]);
    });
  });
});
