import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atomicAmount } from '../../../../schema/amount.ts';
import { emptyWindow } from '../../../../schema/clock-window.ts';
import { alertLimits } from '../../../../schema/limits.ts';
import { type AlertedBook, judgeAlerts, wantsUsualSpending } from '../../../../subgraphs/book/alerts/judge.ts';
import { budgetEnd, keepHourBefore, lastHour, usualSpendingOf } from '../../../../subgraphs/book/alerts/rate.ts';

const HOUR_MS = 3_600_000;
const at = (iso: string) => Date.parse(iso);
const usdc = (amount: number | bigint) => atomicAmount(BigInt(amount));
const window = (start: string, amount: number | bigint) => ({ start_ms: at(start), atomic: usdc(amount) });

const NOW = at('2026-03-01T10:30:00Z');
const DAY = '2026-03-01T00:00:00.000Z';
const HOUR = '2026-03-01T10:00:00.000Z';
const book: AlertedBook = {
  policy: {},
  budget_atomic: null,
  spent_atomic: usdc(0),
  hour: window('2026-03-01T10:00:00Z', 0),
  day: window('2026-03-01T00:00:00Z', 0),
  alert_settings: {},
  alert_state: {},
};
const alerts = (differently: Partial<AlertedBook>, at_ms = NOW) => judgeAlerts({ ...book, ...differently }, at_ms);

describe('threshold', () => {
  const spent = { hour: window('2026-03-01T10:00:00Z', 5_000), day: window('2026-03-01T00:00:00Z', 8_000) };

  it('tells each percent that is reached, of each ceiling, and none of what is not set', () => {
    const { alerts: bodies } = alerts({
      ...spent,
      spent_atomic: usdc(9_999),
      policy: { hourly_cap: '10000', daily_cap: '10000' },
      budget_atomic: usdc(10_000),
    });
    expect(bodies.map(({ ceiling, percent }) => `${ceiling} ${percent}`)).toEqual([
      'hourly_cap 50',
      'daily_cap 50',
      'daily_cap 80',
      'budget 50',
      'budget 80',
    ]);
    expect(bodies[0]).toEqual({
      alert: 'threshold',
      ceiling: 'hourly_cap',
      percent: 50,
      spent_atomic: '5000',
      cap_atomic: '10000',
      period_start: HOUR,
    });
    expect(bodies[3]).toMatchObject({ ceiling: 'budget', spent_atomic: '9999', period_start: null });
    expect(alerts({ ...spent, spent_atomic: usdc(10n ** 30n) }).alerts).toEqual([]);
  });

  it('tells at the percents that the owner set, and at none where he set none', () => {
    const filled = { ...spent, policy: { hourly_cap: '5000' } };
    const percents = (thresholds_percent: number[]) =>
      alerts({ ...filled, alert_settings: { thresholds_percent } }).alerts.map(({ percent }) => percent);
    expect(percents([7, 99])).toEqual([7, 99]);
    expect(percents([])).toEqual([]);
  });

  it('is not told twice in its hour, and anew in the next', () => {
    const filled = { ...spent, policy: { hourly_cap: '5000' } };
    const { state } = alerts(filled);
    expect(alerts({ ...filled, alert_state: state }).alerts).toEqual([]);
    const next = { ...filled, hour: window('2026-03-01T11:00:00Z', 4_999), alert_state: state };
    expect(alerts(next, NOW + HOUR_MS).alerts.map(({ percent }) => percent)).toEqual([50, 80]);
  });

  it('passes over a cap that cannot be read: what was paid for is recorded all the same', () => {
    expect(alerts({ ...spent, policy: { hourly_cap: 'many' } }).alerts).toEqual([]);
  });
});

describe('burn', () => {
  const habit = (days: bigint[]) => ({ alert_state: { habit: usualSpendingOf(DAY, days) } });
  // The usual spending of the book is 30,000 an hour, which is 720,000 a day.
  const used = habit([720_000n, 720_000n, 720_000n]);
  const burning = (amount: number) => ({ hour: window('2026-03-01T10:00:00Z', amount) });

  it('tells an hour of four times the median day, once a day', () => {
    expect(alerts({ ...used, ...burning(119_999) }).alerts).toEqual([]);
    const { alerts: bodies, state } = alerts({ ...used, ...burning(120_000) });
    expect(bodies).toEqual([
      { alert: 'burn', rate_atomic: '120000', habit_atomic: '30000', factor: 4, period_start: DAY },
    ]);
    expect(alerts({ alert_state: state, ...burning(999_999) }).alerts).toEqual([]);
  });

  it('tells by the factor that the owner set', () => {
    const eager = { ...used, alert_settings: { burn_factor: 2 } };
    expect(alerts({ ...eager, ...burning(60_000) }).alerts).toMatchObject([{ alert: 'burn', factor: 2 }]);
  });

  it('does not cry of a new book, of one that spends next to nothing, or by what was another day', () => {
    expect(alerts({ ...habit([1n, 1n]), ...burning(900_000) }).alerts).toEqual([]);
    const little = 19_999;
    expect(alerts({ ...habit([1n, 1n, 1n]), ...burning(little) }).alerts).toEqual([]);
    const stale = { alert_state: { habit: usualSpendingOf('2026-02-28T00:00:00.000Z', [1n, 1n, 1n]) } };
    expect(alerts({ ...stale, ...burning(900_000) }).alerts).toEqual([]);
  });

  it('wants what the book is used to once a day, and not before its hour comes to a rate', () => {
    expect(wantsUsualSpending(book, alertLimits.rate_atomic_min - 1n, NOW)).toBe(false);
    expect(wantsUsualSpending(book, alertLimits.rate_atomic_min, NOW)).toBe(true);
    expect(wantsUsualSpending({ ...book, ...used }, 10n ** 9n, NOW)).toBe(false);
    expect(wantsUsualSpending({ ...book, ...used }, 10n ** 9n, NOW + 24 * HOUR_MS)).toBe(true);
  });

  it('is used to the median of the days with spend', () => {
    expect(usualSpendingOf(DAY, [900n, 1n, 30n])).toEqual({ day: DAY, days: 3, median_atomic: '30' });
    expect(usualSpendingOf(DAY, [900n, 1n, 30n, 41n]).median_atomic).toBe('35');
    expect(usualSpendingOf(DAY, [])).toMatchObject({ days: 0, median_atomic: '0' });
  });
});

describe('budget_end', () => {
  const spending = { hour: window('2026-03-01T10:00:00Z', 100_000), spent_atomic: usdc(1_000_000) };
  const left = (atomic: number) => ({ ...spending, budget_atomic: usdc(1_000_000 + atomic) });
  const silent = { alert_settings: { thresholds_percent: [] } };

  it('names the hour in which the budget ends, once a day', () => {
    const { alerts: bodies, state } = alerts({ ...left(550_000), ...silent });
    expect(bodies).toEqual([
      {
        alert: 'budget_end',
        ceiling: 'budget',
        spent_atomic: '1000000',
        cap_atomic: '1550000',
        period_start: DAY,
        rate_atomic: '100000',
        budget_ends_at: '2026-03-01T16:00:00.000Z',
      },
    ]);
    expect(alerts({ ...left(100_000), ...silent, alert_state: state }).alerts).toEqual([]);
    const tomorrow = { ...left(100_000), hour: window('2026-03-02T10:00:00Z', 100_000) };
    expect(alerts({ ...tomorrow, ...silent, alert_state: state }, NOW + 24 * HOUR_MS).alerts).toHaveLength(1);
  });

  it('is not told of one that lasts longer, has ended, or is spent at no rate', () => {
    expect(alerts({ ...left(2_400_000), ...silent }).alerts).toMatchObject([{ alert: 'budget_end' }]);
    expect(alerts({ ...left(2_400_100), ...silent }).alerts).toEqual([]);
    expect(alerts({ ...left(0), ...silent }).alerts).toEqual([]);
    const slow = window('2026-03-01T10:00:00Z', alertLimits.rate_atomic_min - 1n);
    expect(alerts({ ...left(1), ...silent, hour: slow }).alerts).toEqual([]);
  });

  it('tells as early as the owner set', () => {
    const early = { alert_settings: { thresholds_percent: [], budget_end_hours: 48 } };
    expect(alerts({ ...left(4_700_000), ...early }).alerts).toMatchObject([{ alert: 'budget_end' }]);
  });

  it('never reaches beyond a year, whatever is left', () => {
    expect(budgetEnd(usdc(20_000), usdc(10n ** 77n), NOW)).toBeNull();
  });
});

describe('the last hour', () => {
  it('is the present clock hour, and the part of the one before that lies within', () => {
    const hour_before = { start: '2026-03-01T09:00:00.000Z', atomic: '1000' };
    const hour = window('2026-03-01T10:00:00Z', 70);
    expect(lastHour({ hour, alert_state: { hour_before } }, NOW)).toBe(570n);
    expect(lastHour({ hour, alert_state: { hour_before } }, NOW + 30 * 60_000 - 1)).toBe(70n);
    expect(lastHour({ hour, alert_state: {} }, NOW + HOUR_MS)).toBe(35n);
    expect(lastHour({ hour, alert_state: {} }, NOW + 2 * HOUR_MS)).toBe(0n);
    expect(lastHour({ hour: emptyWindow, alert_state: {} }, NOW)).toBe(0n);
  });

  it('of any amounts at any times is read off two clock hours, however long nothing came between', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 3 * HOUR_MS }), fc.bigInt({ min: 0n, max: 10n ** 12n })));
    fc.assert(
      fc.property(steps, taken => {
        let now = NOW;
        let hour = emptyWindow;
        let alert_state: AlertedBook['alert_state'] = {};
        const sums = new Map<number, bigint>();
        for (const [passed, amount] of taken) {
          now += passed;
          const start_ms = Math.floor(now / HOUR_MS) * HOUR_MS;
          sums.set(start_ms, (sums.get(start_ms) ?? 0n) + amount);
          const after = { start_ms, atomic: usdc(sums.get(start_ms) ?? 0n) };
          alert_state = keepHourBefore(alert_state, hour, after);
          hour = after;
          const present = sums.get(start_ms) ?? 0n;
          const before = sums.get(start_ms - HOUR_MS) ?? 0n;
          const left = BigInt(start_ms + HOUR_MS - now);
          expect(lastHour({ hour, alert_state }, now)).toBe(present + (before * left) / BigInt(HOUR_MS));
        }
      }),
    );
  });
});
