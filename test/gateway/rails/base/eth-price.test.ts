import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Hex } from '../../../../gateway/rails/base/abi.ts';
import type { EthRound } from '../../../../gateway/rails/base/chain.ts';
import {
  gasOrdinary,
  priceBatch,
  type SettleItem,
  usdcOfWei,
  weiOfUsdc,
} from '../../../../gateway/rails/base/settle/batch.ts';
import { PriceWatch, priceOfRound } from '../../../../gateway/rails/base/settle/quotes.ts';
import { type AtomicAmount, atomicAmount } from '../../../../schema/amount.ts';

const amount = (max: bigint) => fc.bigInt(0n, max).map(atomicAmount);
const price = fc.bigInt(100_000_000n, 10n ** 12n).map(atomicAmount);
const wei = fc.bigInt(0n, 10n ** 24n);
const dollars = (count: bigint) => atomicAmount(count * 1_000_000n);

describe('gas money in USDC', () => {
  it('is known for round figures: 85,700 gas at 0.006 gwei, with ether at 5,000 dollars', () => {
    expect(usdcOfWei(85_700n * 6_000_000n, dollars(5_000n))).toBe(2_571n);
    expect(usdcOfWei(0n, dollars(5_000n))).toBe(0n);
    expect(usdcOfWei(1n, dollars(5_000n))).toBe(1n);
    expect(usdcOfWei(10n ** 18n, dollars(5_000n))).toBe(5_000_000_000n);
  });

  it('is rounded up by less than one, and never falls where the wei rise', () => {
    fc.assert(
      fc.property(wei, wei, price, (one, more, rate) => {
        const scaled = usdcOfWei(one, rate) * 10n ** 18n;
        expect(scaled).toBeGreaterThanOrEqual(one * rate);
        expect(scaled).toBeLessThan(one * rate + 10n ** 18n);
        expect(usdcOfWei(one + more, rate)).toBeGreaterThanOrEqual(usdcOfWei(one, rate));
      }),
    );
  });

  it('that an amount buys is worth no more than it, and one wei more is worth more', () => {
    fc.assert(
      fc.property(amount(10n ** 12n), price, (spent, rate) => {
        expect(usdcOfWei(weiOfUsdc(spent, rate), rate)).toBeLessThanOrEqual(spent);
        expect(usdcOfWei(weiOfUsdc(spent, rate) + 1n, rate)).toBeGreaterThan(spent);
      }),
    );
  });
});

const round = (answer: bigint, updated_at_seconds = 10_000): EthRound => ({
  kind: 'round',
  answer,
  updated_at_seconds,
});

describe("the feed's word", () => {
  it.each([
    ['3,000.12345678 dollars, rounded up', round(300_012_345_678n), 10_000, { kind: 'price', price: 3_000_123_457n }],
    ['an hour old', round(300_000_000_000n), 13_600, { kind: 'price', price: 3_000_000_000n }],
    ['older', round(300_000_000_000n), 13_601, { kind: 'stale' }],
    ['of a round that never was', round(300_000_000_000n, 0), 13_601, { kind: 'stale' }],
    ['nothing', round(0n), 10_000, { kind: 'implausible' }],
    ['less than nothing', round(-300_000_000_000n), 10_000, { kind: 'implausible' }],
    ['a cent', round(1_000_000n), 10_000, { kind: 'implausible' }],
    ['a billion', round(10n ** 17n), 10_000, { kind: 'implausible' }],
  ] as const)('%s', (_, said, now, priced) => {
    expect(priceOfRound(said, now)).toEqual(priced);
  });
});

const at = (eth_round: EthRound, timestamp_seconds = 10_000) => ({
  eth_round,
  head: { number: 1, hash: '0x00' as Hex, timestamp_seconds, base_fee_wei: 1n },
});

describe('what an ether is taken for', () => {
  it('is what the operator says, whatever a feed does', () => {
    const watch = new PriceWatch({ given: dollars(7n), profile: 'production' });
    expect(watch.at(at(round(300_000_000_000n)))).toEqual({ kind: 'price', price: 7_000_000n });
  });

  it('is what the feed said last, for six hours, and then not known', () => {
    const watch = new PriceWatch({ given: null, profile: 'production' });
    const known = watch.at(at(round(300_000_000_000n)));
    expect(known.kind).toBe('price');
    for (const silent of [round(-1n), round(300_000_000_000n), { kind: 'unreadable' }, { kind: 'absent' }] as const)
      expect(watch.at(at(silent, 10_000 + 21_600))).toEqual(known);
    expect(watch.at(at({ kind: 'unreadable' }, 10_000 + 21_601))).toEqual({ kind: 'unreadable' });
  });

  it('is a dollar on a development chain, which has no feed, and not known without one in production', () => {
    const none = at({ kind: 'absent' });
    expect(new PriceWatch({ given: null, profile: 'development' }).at(none)).toEqual({
      kind: 'price',
      price: 1_000_000n,
    });
    expect(new PriceWatch({ given: null, profile: 'production' }).at(none)).toEqual({ kind: 'absent' });
    for (const unknown of [round(0n), { kind: 'unreadable' }] as const)
      expect(new PriceWatch({ given: null, profile: 'development' }).at(at(unknown)).kind).not.toBe('price');
  });
});

const word: Hex = `0x${'11'.repeat(32)}`;
const item = (kind: 'key' | 'standing' | 'unmade'): SettleItem => ({
  claim_key: '',
  authorization: {
    network: 'base',
    payer: `0x${'22'.repeat(20)}`,
    pay_to: `0x${'33'.repeat(20)}`,
    amount_atomic: atomicAmount(2_000n),
    valid_after_seconds: 0,
    valid_before_seconds: 2 ** 32,
    nonce: word,
  },
  signature:
    kind === 'key'
      ? { kind: 'ecdsa', r: word, s: word, v: 27 }
      : {
          kind: 'contract',
          bytes: word,
          deploy: kind === 'unmade' ? { factory: `0x${'fa'.repeat(20)}`, data: word } : null,
        },
});
const batches = fc.oneof(
  fc.integer({ min: 1, max: 100 }).map(count => Array.from({ length: count }, () => item('key'))),
  fc.constantFrom([item('standing')], [item('unmade')]),
);
const gwei = fc.bigInt(0n, 10n ** 11n);

describe('the fees of a batch', () => {
  const priced = (items: readonly SettleItem[], base_fee_wei: bigint, rate: AtomicAmount, l1_fee_wei = 0n) => {
    const { head } = at({ kind: 'absent' });
    const market = { head: { ...head, base_fee_wei }, priority_fee_wei: 1_000_000n, l1_fee_wei };
    return priceBatch(items, market, rate, atomicAmount(4_000n));
  };

  it('never let the share of one cost more than its bound, and are too high only where the chain asks for that', () => {
    fc.assert(
      fc.property(batches, gwei, price, fc.bigInt(0n, 10n ** 13n), (items, base_fee_wei, rate, l1_fee_wei) => {
        const fee = priced(items, base_fee_wei, rate, l1_fee_wei);
        const bound = 4_000n * BigInt(items.length);
        const gas = BigInt(gasOrdinary(items));
        if (fee.kind === 'priced') {
          expect(usdcOfWei(gas * fee.fees.max_fee_wei, rate)).toBeLessThanOrEqual(bound);
          expect(fee.worst_atomic).toBe(usdcOfWei(fee.worst_wei, rate));
          expect(fee.worst_wei).toBeGreaterThanOrEqual(gas * fee.fees.max_fee_wei + l1_fee_wei);
        } else if (l1_fee_wei === 0n) expect(usdcOfWei(gas * (base_fee_wei + 1_000_000n), rate)).toBeGreaterThan(bound);
      }),
    );
  });

  it('keep the till open at the fees that the page of the configuration takes for ordinary, and close it where it says', () => {
    const lone = [item('key')];
    const together = Array.from({ length: 25 }, () => item('key'));
    const kind = (items: readonly SettleItem[], milli_gwei: bigint, rate: bigint) =>
      priced(items, milli_gwei * 1_000_000n - 1_000_000n, dollars(rate)).kind;
    expect([kind(lone, 9n, 5_000n), kind(lone, 10n, 5_000n)]).toEqual(['priced', 'too_high']);
    expect([kind(together, 15n, 5_000n), kind(together, 16n, 5_000n)]).toEqual(['priced', 'too_high']);
    expect([kind(lone, 15n, 3_000n), kind(lone, 16n, 3_000n)]).toEqual(['priced', 'too_high']);
    expect([kind(together, 25n, 3_000n), kind(together, 26n, 3_000n)]).toEqual(['priced', 'too_high']);
    expect([kind([item('standing')], 8n, 3_000n), kind([item('standing')], 9n, 3_000n)]).toEqual([
      'priced',
      'too_high',
    ]);
    expect([kind([item('unmade')], 2n, 3_000n), kind([item('unmade')], 3n, 3_000n)]).toEqual(['priced', 'too_high']);
  });
});
