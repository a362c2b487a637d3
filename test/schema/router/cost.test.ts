import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchCost } from '../../../schema/router/cost.ts';

const match = (total_cost: string, amount: bigint) =>
  matchCost({ generation_id: 'g', model: 'm', amount }, { id: 'g', model: 'm', total_cost });

describe('a cost as a router tells it', () => {
  it('matches the millionths that it comes to, rounded either way, and no others', () => {
    const digits = fc.tuple(
      fc.bigInt({ min: 0n, max: 10n ** 15n - 1n }),
      fc.stringMatching(/^\d{0,30}$/),
      fc.integer({ min: -20, max: 20 }),
    );
    fc.assert(
      fc.property(digits, ([whole, fraction, exponent]) => {
        const text = `${whole}${fraction && `.${fraction}`}${exponent === 0 ? '' : `e${exponent}`}`;
        // As a fraction over one denominator, by another way than the rule's.
        const [numerator, denominator] = [
          BigInt(`${whole}${fraction}`) * 10n ** BigInt(exponent + 26),
          10n ** BigInt(fraction.length + 20),
        ];
        const floor = numerator / denominator;
        const exact = numerator % denominator === 0n;
        expect(match(text, floor)).toBe('matched');
        expect(match(text, floor + 1n)).toBe(exact ? 'other_amount' : 'matched');
        expect(match(text, floor + 2n)).toBe('other_amount');
        if (floor > 0n) expect(match(text, floor - 1n)).toBe('other_amount');
      }),
    );
  });

  it.each([
    '',
    '-1',
    '+1',
    '.5',
    '1.',
    'NaN',
    'Infinity',
    '0x10',
    '1e100',
    '1e-100',
    '1 ',
    '1,5',
    `0.${'0'.repeat(61)}`,
  ])('%j is none, and matches nothing', text => {
    for (const amount of [0n, 1n, 1_000_000n]) expect(match(text, amount)).toBe('other_amount');
  });

  it('is of the generation and the model, to the letter', () => {
    const reported = { generation_id: 'g', model: 'm', amount: 1n };
    const told = { id: 'g', model: 'm', total_cost: '0.000001' };
    expect(matchCost(reported, told)).toBe('matched');
    expect(matchCost(reported, { ...told, id: 'G' })).toBe('other_generation');
    expect(matchCost(reported, { ...told, model: 'm ' })).toBe('other_model');
  });
});
