import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  classifyTransfers,
  noSums,
  type SentTransfer,
  sumClasses,
  type TransferUse,
  transferClasses,
} from '../../schema/reconciliation-rule.ts';

const payee = fc.constantFrom('0xa', '0xb', '0xc', '0xself');
const place = fc.record({
  tx_hash: fc.constantFrom('0x1', '0x2', '0x3'),
  log_index: fc.nat(5),
  to: payee,
  amount: fc.bigInt({ min: 0n, max: 2n ** 90n }),
});
const transfers = fc
  .uniqueArray(place, { selector: ({ tx_hash, log_index }) => `${tx_hash}/${log_index}`, maxLength: 10 })
  .map(places => places.map((each): SentTransfer => ({ ...each, block_number: 1 })));
const own = fc.subarray(['0xa', '0xb']).map(others => new Set(['0xself', ...others]));

/** Of some of them what rests on each, by its place or only by payee and amount. */
const uses = (of: readonly SentTransfer[]) =>
  fc.tuple(fc.subarray([...of]), fc.infiniteStream(fc.tuple(fc.boolean(), fc.boolean()))).map(([some, coins]) =>
    some.map((transfer): TransferUse => {
      const [by_place, bought] = coins.next().value ?? [true, true];
      const { tx_hash, to, amount, log_index } = transfer;
      const kind = bought ? 'receipt' : 'ingest';
      return { kind, tx_hash, amount, pay_to: to, transfer_index: by_place ? log_index : null };
    }),
  );
const cases = transfers.chain(sent => fc.record({ sent: fc.constant(sent), own, uses: uses(sent) }));

describe('what a transfer of a wallet is', () => {
  it('is one class for each, in the order given, and what goes to one’s own is self-dealt whatever rests on it', () => {
    fc.assert(
      fc.property(cases, ({ sent, ...known }) => {
        const classified = classifyTransfers(sent, known);
        expect(classified.map(({ transfer }) => transfer)).toEqual(sent);
        for (const { class: of, transfer, use } of classified) {
          expect(of === 'self_dealt').toBe(known.own.has(transfer.to));
          if (of === 'unreceipted') expect(use).toBeNull();
          if (of === 'receipted') expect(use?.kind).toBe('receipt');
          if (of === 'ingested') expect(use?.kind).toBe('ingest');
        }
      }),
    );
  });

  it('gives each use one transfer of its own amount, and none of its transfers two', () => {
    fc.assert(
      fc.property(cases, ({ sent, ...known }) => {
        const backed = classifyTransfers(sent, known).filter(({ use }) => use !== null);
        expect(backed).toHaveLength(known.uses.length);
        expect(new Set(backed.map(({ use }) => use)).size).toBe(backed.length);
        for (const { transfer, use } of backed)
          expect(use).toMatchObject({ amount: transfer.amount, tx_hash: transfer.tx_hash });
      }),
    );
  });

  it('counts the same use twice for nothing, and one of another amount, payee or transaction for nothing', () => {
    fc.assert(
      fc.property(cases, ({ sent, own, uses }) => {
        const once = classifyTransfers(sent, { own, uses });
        const named = uses.filter(({ transfer_index }) => transfer_index !== null);
        const wrong = uses.flatMap(use => [
          { ...use, amount: use.amount + 2n ** 91n },
          { ...use, pay_to: '0xnobody' },
          { ...use, tx_hash: '0x9' },
        ]);
        expect(classifyTransfers(sent, { own, uses: [...uses, ...named] })).toEqual(once);
        for (const { class: of } of classifyTransfers(sent, { own: new Set(), uses: wrong }))
          expect(of).toBe('unreceipted');
      }),
    );
  });

  it('sums each transfer in its class once, in whatever pages they come', () => {
    fc.assert(
      fc.property(cases, fc.nat(10), ({ sent, ...known }, at) => {
        const classified = classifyTransfers(sent, known);
        const sums = sumClasses(noSums, classified);
        expect(sumClasses(sumClasses(noSums, classified.slice(0, at)), classified.slice(at))).toEqual(sums);
        expect(transferClasses.reduce((all, of) => all + sums[of].amount, 0n)).toBe(
          sent.reduce((all, { amount }) => all + amount, 0n),
        );
        expect(transferClasses.reduce((all, of) => all + sums[of].count, 0)).toBe(sent.length);
      }),
    );
  });
});
