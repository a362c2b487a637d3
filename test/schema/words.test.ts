import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atomicAmount, formatUsdc, parseAtomic, remainder } from '../../schema/amount.ts';
import { evidences, mayBecome } from '../../schema/evidence.ts';
import { taskId } from '../../schema/ids.ts';
import { wordList } from '../../schema/words.ts';

describe('amounts', () => {
  it('parse back what they print, and nothing else that looks like a number', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 77n }), value => {
        expect(parseAtomic(value.toString())).toBe(value);
      }),
    );
    for (const text of ['', '-1', '+1', '01', '1.0', '1e3', '0x10', ' 1', '１']) expect(parseAtomic(text)).toBeNull();
  });

  it('never fall below zero', () => {
    expect(remainder(atomicAmount(3n), atomicAmount(5n))).toBe(0n);
    expect(() => atomicAmount(-1n)).toThrow(RangeError);
  });

  it('are shown to people in USDC', () => {
    expect(formatUsdc(atomicAmount(2000n))).toBe('0.002 USDC');
    expect(formatUsdc(atomicAmount(25_000_000n))).toBe('25.00 USDC');
  });
});

describe('evidence', () => {
  it('changes only from a settle that was not seen to arrive', () => {
    const changes = wordList(evidences).flatMap(from =>
      wordList(evidences)
        .filter(to => mayBecome(from, to))
        .map(to => `${from} → ${to}`),
    );
    expect(changes).toEqual(['RECORDED_BY_SETTLE → collected', 'RECORDED_BY_SETTLE → ARRIVAL_UNVERIFIED']);
  });
});

describe('task ids', () => {
  it('are well formed, sort by their time, and show only their time', () => {
    fc.assert(
      fc.property(
        fc.nat(2 ** 40),
        fc.nat(2 ** 40),
        fc.uint8Array({ minLength: 10, maxLength: 10 }),
        (one, other, random) => {
          const [a, b] = [taskId(one, random), taskId(other, random)];
          expect(a).toMatch(/^task_[0-9a-hjkmnp-tv-z]{26}$/);
          expect(Math.sign(one - other)).toBe(a < b ? -1 : a > b ? 1 : 0);
        },
      ),
    );
  });
});
