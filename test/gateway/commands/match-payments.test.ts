import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  matchPayments,
  type SeenTransfer,
  type WalletPayment,
} from '../../../gateway/commands/witness/monitor/match.ts';

const place = fc.tuple(fc.constantFrom('0xa', '0xb', '0xc'), fc.nat(3), fc.bigInt({ min: 1n, max: 3n }));
const transfers = fc
  .uniqueArray(place, { selector: ([tx, index]) => `${tx} ${index}`, maxLength: 8 })
  .map(places =>
    places.map(
      ([tx_hash, log_index, amount]): SeenTransfer => ({ tx_hash, log_index, amount, block_number: 1, to: '0xt' }),
    ),
  );

/** Of each transfer the receipt that it backs; some were only vouched for. */
function receiptsOf(seen: readonly SeenTransfer[], vouched: (at: number) => boolean): WalletPayment[] {
  return seen.map(({ tx_hash, log_index, amount, to }, at) => ({
    task_id: `task_${at}`,
    tx_hash,
    amount,
    pay_to: to,
    transfer_index: vouched(at) ? null : log_index,
  }));
}

describe('receipts and transfers', () => {
  it('fit where each has the other, whatever their order, and where some were only vouched for', () => {
    fc.assert(
      fc.property(transfers, fc.nat(), (seen, mask) => {
        const receipts = receiptsOf(seen, at => (mask & (1 << at)) !== 0);
        expect(matchPayments(receipts.toReversed(), seen)).toEqual({ matched: seen.length, findings: [] });
      }),
    );
  });

  it('name each transfer without its receipt and each receipt without its transfer', () => {
    fc.assert(
      fc.property(transfers, fc.nat(), (seen, at) => {
        fc.pre(seen.length > 0);
        const index = at % seen.length;
        const receipts = receiptsOf(seen, () => false);
        const [transfer, receipt] = [seen[index], receipts[index]];
        expect(matchPayments(receipts.toSpliced(index, 1), seen).findings).toEqual([
          { kind: 'transfer_without_receipt', transfer },
        ]);
        expect(matchPayments(receipts, seen.toSpliced(index, 1)).findings).toEqual([
          { kind: 'receipt_without_transfer', receipt },
        ]);
      }),
    );
  });

  it('name a transfer that two receipts name, another amount, and another payee', () => {
    const transfer = { tx_hash: '0xa', log_index: 1, amount: 2n, block_number: 1, to: '0xt' };
    const receipt = { task_id: 'task_1', tx_hash: '0xa', transfer_index: 1, amount: 2n, pay_to: '0xt' };
    const again = { ...receipt, task_id: 'task_2' };
    expect(matchPayments([receipt, again], [transfer])).toEqual({
      matched: 1,
      findings: [{ kind: 'payment_used_twice', receipt: again, transfer }],
    });
    const more = { ...receipt, amount: 3n };
    expect(matchPayments([more], [transfer]).findings).toEqual([{ kind: 'amount_differs', receipt: more, transfer }]);
    const elsewhere = { ...receipt, pay_to: '0xu' };
    expect(matchPayments([elsewhere], [transfer]).findings.map(({ kind }) => kind)).toEqual([
      'receipt_without_transfer',
      'transfer_without_receipt',
    ]);
  });
});
