import fc from 'fast-check';
import { expect, it } from 'vitest';
import { COUNT_RANGE, countRange } from '../../schema/count-range.ts';

it.each([
  [0n, '0'],
  [1n, '1-9'],
  [9n, '1-9'],
  [10n, '10-99'],
  [2000n, '1000-9999'],
])('%s is told as %s', (number, range) => {
  expect(countRange(number)).toBe(range);
});

it('a range holds what it is told for, and all of as many digits are told alike', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 40n }), number => {
      const range = countRange(number);
      expect(range).toMatch(COUNT_RANGE);
      const [lowest = 0n, highest = 0n] = range.split('-').map(BigInt);
      expect(lowest <= number && number <= highest).toBe(true);
      expect([countRange(lowest), countRange(highest)]).toEqual([range, range]);
      expect(countRange(highest + 1n)).not.toBe(range);
    }),
  );
});
