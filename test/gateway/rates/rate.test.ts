import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Meter, rateHeaders, takeRateUse, unused } from '../../../gateway/rates/rate.ts';
import { limits } from '../../../schema/limits.ts';

const rates = fc.record({ count: fc.integer({ min: 1, max: 1_000 }), seconds: fc.integer({ min: 1, max: 3_600 }) });
const NOW_MS = 1_790_000_000_000;

describe('a rate', () => {
  it('lets as many pass at once as it says, and not one more, wherever in time that is', () => {
    fc.assert(
      fc.property(rates, fc.integer({ min: 0, max: 10_000_000 }), (rate, offset_ms) => {
        const meter = new Meter(rate, { now_ms: () => NOW_MS + offset_ms });
        const turns = Array.from({ length: rate.count }, () => meter.take('a'));
        expect(turns.map(({ kind }) => kind)).not.toContain('beyond');
        expect(turns.map(({ remaining }) => remaining)).toEqual(turns.map((_, index) => rate.count - 1 - index));
        expect([meter.take('a').kind, meter.take('b').kind]).toEqual(['beyond', 'within']);
      }),
    );
  });

  it('never lets more pass in any window than twice its count, less one: a burst, and what came back meanwhile', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(
        fc.record({ count: fc.integer({ min: 1, max: 20 }), seconds: fc.integer({ min: 1, max: 30 }) }),
        gaps,
        (rate, gaps_ms) => {
          let now_ms = NOW_MS;
          const meter = new Meter(rate, { now_ms: () => now_ms });
          const passed: number[] = [];
          for (const gap_ms of gaps_ms) {
            now_ms += gap_ms;
            if (meter.take('a').kind === 'within') passed.push(now_ms);
          }
          for (const from_ms of passed) {
            const within = passed.filter(at_ms => at_ms >= from_ms && at_ms < from_ms + rate.seconds * 1_000);
            expect(within.length).toBeLessThanOrEqual(2 * rate.count);
          }
        },
      ),
    );
  });

  it('lets pass after the time that it names, and asking meanwhile makes that no longer', () => {
    fc.assert(
      fc.property(rates, fc.nat(50), (rate, asked) => {
        let now_ms = NOW_MS;
        const meter = new Meter(rate, { now_ms: () => now_ms });
        for (let use = 0; use < rate.count; use++) meter.take('a');
        const beyond = meter.take('a');
        for (let times = 0; times < asked; times++) meter.take('a');
        if (beyond.kind !== 'beyond') throw new Error('let pass');
        now_ms += beyond.retry_after_seconds * 1_000;
        expect(meter.look('a').kind).toBe('within');
        expect(meter.take('a').kind).toBe('within');
      }),
    );
  });

  it('is as it was before once its window has passed unused', () => {
    fc.assert(
      fc.property(rates, rate => {
        const { used } = takeRateUse(rate, unused, NOW_MS);
        const later = takeRateUse(rate, used, NOW_MS + rate.seconds * 1_000);
        expect(later.turn.remaining).toBe(rate.count - 1);
      }),
    );
  });

  it('holds a bounded number of callers', () => {
    const meter = new Meter({ count: 1, seconds: 60 }, { now_ms: () => NOW_MS });
    for (let caller = 0; caller <= limits.rate_callers_max; caller++) meter.take(String(caller));
    expect([meter.take('0').kind, meter.take(String(limits.rate_callers_max)).kind]).toEqual(['within', 'beyond']);
  });

  it('is told as the draft has it: quota and window, what is left and until when', () => {
    const rate = { count: 100, seconds: 60 };
    expect(rateHeaders('free', rate, { kind: 'within', remaining: 50, reset_seconds: 30 })).toEqual({
      'RateLimit-Policy': '"free";q=100;w=60',
      RateLimit: '"free";r=50;t=30',
    });
  });
});
