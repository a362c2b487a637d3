import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addToWindow, windowAt } from '../../../../schema/clock-window.ts';
import { riskyOperations } from '../../../../schema/paid-operations.ts';
import type { BookPolicy } from '../../../../schema/policy-kinds.ts';
import { parsePolicy, policyNames } from '../../../../schema/requests/policy.ts';
import { tally } from '../../../../subgraphs/book/ledger/counters.ts';
import { evaluate } from '../../../../subgraphs/book/policy/evaluate.ts';
import { callByKey, callFor, noCeilings, usdc } from '../../../harness/ledger/policy-call.ts';

/** More names than exist. */
const TOO_MANY = riskyOperations.length + 1;

const HOUR_MS = 3_600_000;
const at = (iso: string) => Date.parse(iso);
const window = (start: string, amount: number) => ({ start_ms: at(start), atomic: usdc(amount) });

describe('what a book lets pass', () => {
  it('is everything where nothing is set', () => {
    const rich = { ...noCeilings, spent_atomic: usdc(10n ** 30n), reserved_atomic: usdc(10n ** 30n) };
    expect(evaluate(rich, callFor(2000))).toEqual({ kind: 'admitted' });
  });

  it('is nothing at all under the kill switch, which is named before any cap', () => {
    const killed = {
      ...noCeilings,
      policy: { kill_switch: true, hourly_cap: '0' },
      budget_atomic: usdc(0),
      spent_atomic: usdc(5),
    };
    expect(evaluate(killed, callFor(2000))).toEqual({
      kind: 'blocked',
      refusal_code: 'policy_blocked',
      policy_code: 'kill_switch',
      policy_key: null,
      spent_atomic: 5n,
      cap_atomic: null,
      period_start: null,
      reason: 'The kill switch of this book is on.',
    });
    expect(evaluate({ ...noCeilings, policy: { kill_switch: false } }, callFor(2000)).kind).toBe('admitted');
  });

  it('is every call without money, whatever the ceilings, but under the two policies that no amount decides', () => {
    const full = {
      ...noCeilings,
      policy: { hourly_cap: '0', daily_cap: '0' },
      budget_atomic: usdc(0),
      spent_atomic: usdc(9),
    };
    expect(evaluate(full, callByKey)).toEqual({ kind: 'admitted' });
    const switched = { ...full, policy: { ...full.policy, require_payment_ref: true } };
    expect(evaluate(switched, callByKey)).toEqual({
      kind: 'blocked',
      refusal_code: 'policy_blocked',
      policy_code: 'require_payment_ref',
      policy_key: null,
      spent_atomic: 9n,
      cap_atomic: null,
      period_start: null,
      reason: 'This book takes no call without a payment, and a key stood in for one.',
    });
    expect(evaluate({ ...noCeilings, policy: { require_payment_ref: true } }, callFor(2000)).kind).toBe('admitted');
    const killed = { ...switched, policy: { ...switched.policy, kill_switch: true } };
    expect(evaluate(killed, callByKey)).toMatchObject({ policy_code: 'kill_switch' });
  });

  it('ends with the budget, up to its last unit', () => {
    const spent = { ...noCeilings, budget_atomic: usdc(10_000), spent_atomic: usdc(4000), reserved_atomic: usdc(4000) };
    expect(evaluate(spent, callFor(2000)).kind).toBe('admitted');
    expect(evaluate(spent, callFor(2001))).toEqual({
      kind: 'blocked',
      refusal_code: 'budget_exhausted',
      policy_code: 'budget_exhausted',
      policy_key: null,
      spent_atomic: 4000n,
      cap_atomic: 10_000n,
      period_start: null,
      reason: '4000 collected, 4000 held by calls under way and 2001 asked for is more than the budget of 10000.',
    });
  });

  it('names the hourly cap before the daily one, with what was collected in that hour', () => {
    const policy = { hourly_cap: '6000', daily_cap: '6000' };
    const hour = window('2026-03-01T10:00:00Z', 2000);
    const day = window('2026-03-01T00:00:00Z', 4000);
    const busy = { ...noCeilings, policy, hour, day, reserved_atomic: usdc(3000) };
    expect(evaluate(busy, callFor(2000))).toMatchObject({
      refusal_code: 'policy_blocked',
      policy_code: 'hourly_cap_exceeded',
      policy_key: 'hourly_cap',
      spent_atomic: 2000n,
      cap_atomic: 6000n,
      period_start: '2026-03-01T10:00:00.000Z',
    });
    expect(evaluate({ ...busy, reserved_atomic: usdc(1000) }, callFor(2000))).toMatchObject({
      policy_code: 'daily_cap_exceeded',
      policy_key: 'daily_cap',
      spent_atomic: 4000n,
      period_start: '2026-03-01T00:00:00.000Z',
    });
  });
});

describe('the edge of an hour and of a day, in UTC', () => {
  const full = {
    ...noCeilings,
    policy: { hourly_cap: '2000', daily_cap: '4000' },
    hour: window('2026-02-28T23:00:00Z', 2000),
    day: window('2026-02-28T00:00:00Z', 4000),
  };

  it.each([
    ['2026-02-28T23:00:00.000Z', 'hourly_cap_exceeded'],
    ['2026-02-28T23:59:59.999Z', 'hourly_cap_exceeded'],
    ['2026-03-01T00:00:00.000Z', undefined],
    // A clock that went back does not start the previous hour again.
    ['2026-02-28T22:59:59.999Z', 'hourly_cap_exceeded'],
  ])('at %s: %s', (now, policy_code) => {
    const evaluation = evaluate({ ...full, now_ms: at(now) }, callFor(2000));
    expect(evaluation.kind === 'blocked' ? evaluation.policy_code : undefined).toBe(policy_code);
  });

  it('holds the day while the hours pass', () => {
    const later = { ...full, hour: window('2026-02-28T09:00:00Z', 2000), now_ms: at('2026-02-28T10:00:00Z') };
    expect(evaluate(later, callFor(2000))).toMatchObject({ policy_code: 'daily_cap_exceeded' });
  });

  it('counts what is still held from the hour before: it may be collected in this one', () => {
    const held = { ...full, reserved_atomic: usdc(2000), now_ms: at('2026-03-01T00:00:00.000Z') };
    expect(evaluate(held, callFor(2000))).toMatchObject({ policy_code: 'hourly_cap_exceeded', spent_atomic: 0n });
  });

  it('takes an amount out of its own hour only', () => {
    const hour = window('2026-02-28T23:00:00Z', 4000);
    expect(addToWindow(hour, 'hour', at('2026-02-28T23:30:00Z'), -2000n)).toMatchObject({ atomic: 2000n });
    expect(addToWindow(hour, 'hour', at('2026-02-28T22:30:00Z'), -2000n)).toEqual(hour);
    expect(addToWindow(hour, 'hour', at('2026-03-01T00:00:00Z'), 2000n)).toEqual(window('2026-03-01T00:00:00Z', 2000));
  });
});

type Step = {
  readonly kind: 'reserve' | 'collect' | 'void' | 'unverify';
  readonly pick: number;
  readonly minutes: number;
};
const steps = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom('reserve', 'reserve', 'collect', 'void', 'unverify'),
    pick: fc.nat(100),
    minutes: fc.nat(40),
  }),
  { maxLength: 120 },
);

describe('any interleaving of reserve, collect, void and money that never came', () => {
  it('keeps what is spent and held at or below every ceiling, and counters equal to sums', () => {
    const ceilings = fc.record({ budget: fc.nat(60), hourly: fc.nat(20), daily: fc.nat(40) });
    fc.assert(
      fc.property(ceilings, steps, ({ budget, hourly, daily }, taken) => {
        const policy: BookPolicy = { hourly_cap: String(hourly), daily_cap: String(daily) };
        let head = { ...noCeilings, policy, budget_atomic: usdc(budget), by_rail: {} };
        const held: bigint[] = [];
        const rows: { amount: bigint; at_ms: number }[] = [];
        for (const { kind, pick, minutes } of taken) {
          head = { ...head, now_ms: head.now_ms + minutes * 60_000 };
          const amount = usdc((pick % 5) + 1);
          const row = rows[pick % Math.max(rows.length, 1)];
          if (kind === 'reserve' && evaluate(head, callFor(amount)).kind === 'admitted') held.push(amount);
          else if (kind === 'unverify' && row) {
            head = tally(head, { amount: usdc(row.amount), rail: 'usdc', evidence: 'collected' }, row.at_ms, -1);
            rows.splice(rows.indexOf(row), 1);
          } else if ((kind === 'collect' || kind === 'void') && held.length > 0) {
            const [given] = held.splice(pick % held.length, 1);
            if (kind === 'collect' && given !== undefined) {
              head = tally(head, { amount: usdc(given), rail: 'usdc', evidence: 'collected' }, head.now_ms, 1);
              rows.push({ amount: given, at_ms: head.now_ms });
            }
          }
          head = { ...head, reserved_atomic: usdc(held.reduce((sum, one) => sum + one, 0n)) };
          const inPeriod = (ms: number) =>
            rows
              .filter(one => Math.floor(one.at_ms / ms) === Math.floor(head.now_ms / ms))
              .reduce((sum, one) => sum + one.amount, 0n);
          expect(head.spent_atomic).toBe(rows.reduce((sum, one) => sum + one.amount, 0n));
          expect(windowAt(head.hour, 'hour', head.now_ms).atomic).toBe(inPeriod(HOUR_MS));
          expect(windowAt(head.day, 'day', head.now_ms).atomic).toBe(inPeriod(24 * HOUR_MS));
          expect(head.spent_atomic + head.reserved_atomic <= BigInt(budget)).toBe(true);
          expect(inPeriod(HOUR_MS) + head.reserved_atomic <= BigInt(hourly)).toBe(true);
          expect(inPeriod(24 * HOUR_MS) + head.reserved_atomic <= BigInt(daily)).toBe(true);
        }
      }),
    );
  });
});

describe('a policy as it is asked for', () => {
  it.each([
    ['hourly_cap', '20000', '20000'],
    ['daily_cap', 20_000, '20000'],
    ['daily_cap', '0', '0'],
    ['kill_switch', true, true],
    ['kill_switch', false, false],
    ['hourly_cap', null, null],
    ['kill_switch', null, null],
    ['model_allowlist', ['a', 'b', 'a'], ['a', 'b']],
    ['tier2_above', 5000, '5000'],
    ['approval_ttl', 1, 1],
    ['approval_ttl', 86_400, 86_400],
    ['risk_tiers', { high: ['request_task', 'redeem', 'redeem'] }, { high: ['submit_inference', 'redeem'], low: [] }],
  ] as const)('%s %j is taken', (policy_type, value, kept) => {
    expect(parsePolicy(policy_type, value)).toEqual({ policy_type, value: kept });
  });

  it.each([
    ['hourly_cap', '-1'],
    ['hourly_cap', '1.5'],
    ['hourly_cap', '007'],
    ['hourly_cap', -1],
    ['hourly_cap', 1.5],
    ['hourly_cap', 2 ** 53],
    ['daily_cap', true],
    ['daily_cap', {}],
    ['kill_switch', 'true'],
    ['kill_switch', 1],
    ['kill_switch', undefined],
    ['model_allowlist', []],
    ['model_allowlist', 'a'],
    ['model_allowlist', ['']],
    ['model_allowlist', [7]],
    ['model_allowlist', ['svc/auto']],
    ['model_allowlist', ['a\0b']],
    ['model_allowlist', ['a'.repeat(201)]],
    ['model_allowlist', Array.from({ length: 101 }, (_, index) => `m${index}`)],
    ['model_allowlist', Array.from({ length: 42 }, (_, index) => `${index + 10}`.padEnd(200, 'é'))],
    ['tier2_above', '-1'],
    ['approval_ttl', 0],
    ['approval_ttl', 1.5],
    ['approval_ttl', '300'],
    ['approval_ttl', 86_401],
    ['risk_tiers', []],
    ['risk_tiers', { high: 'redeem' }],
    ['risk_tiers', { high: ['no_such_door'] }],
    ['risk_tiers', { low: ['agents_register'] }],
    ['risk_tiers', { high: ['redeem'], low: ['redeem'] }],
    ['risk_tiers', { high: [], middle: [] }],
    ['risk_tiers', { high: Array(TOO_MANY).fill('redeem') }],
    ['risk_tiers', { high: ['redeem'], low: Array(TOO_MANY).fill('handoff') }],
  ] as const)('%s %j is refused by its value', (policy_type, value) => {
    expect(refusalOf(policy_type, value)).toMatchObject({ code: 'invalid_policy', param: 'value' });
  });

  it.each(['', 'hourly-cap', 'toString', '__proto__'])('a policy of type %j is unknown', policy_type => {
    expect(refusalOf(policy_type, null)).toMatchObject({ code: 'invalid_policy', param: 'policy_type' });
  });

  it('is taken for each of the eight names', () => {
    expect(policyNames.toSorted()).toEqual([
      'approval_ttl',
      'daily_cap',
      'hourly_cap',
      'kill_switch',
      'model_allowlist',
      'require_payment_ref',
      'risk_tiers',
      'tier2_above',
    ]);
    expect(policyNames.map(policy_type => refusalOf(policy_type, null))).toEqual(Array(8).fill(null));
  });

  it('says what is wrong with tiers and models', () => {
    const messageOf = (policy_type: string, value: Parameters<typeof parsePolicy>[1]) =>
      refusalOf(policy_type, value)?.message;
    expect(messageOf('risk_tiers', { high: ['chat'] })).toContain(
      'contains "chat", which is not a known name. The names are chat_completions,',
    );
    expect(messageOf('risk_tiers', { high: ['redeem'], low: ['redeem'] })).toContain(
      'must not have redeem both in high and in low',
    );
    expect(messageOf('risk_tiers', { high: [], middle: [] })).toContain(
      'must be {high: [names], low: [names]} without other members',
    );
    expect(messageOf('model_allowlist', ['svc/auto'])).toContain('An svc/* id only chooses a model');
    expect(messageOf('model_allowlist', [])).toContain('must be a list of 1 to 100 model ids');
  });
});

function refusalOf(policy_type: string, value: Parameters<typeof parsePolicy>[1]) {
  try {
    parsePolicy(policy_type, value);
    return null;
  } catch (refusal) {
    const { message, extensions } = refusal as { message: string; extensions: { code: string; param: string } };
    return { message, code: extensions.code, param: extensions.param };
  }
}
