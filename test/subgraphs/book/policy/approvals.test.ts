import { describe, expect, it } from 'vitest';
import type { BookPolicy } from '../../../../schema/policy-kinds.ts';
import type { PolicyCall } from '../../../../schema/policy-rule.ts';
import { type Ceilings, evaluate, wouldRefuse } from '../../../../subgraphs/book/policy/evaluate.ts';
import { callByKey, callFor, noCeilings, usdc } from '../../../harness/ledger/policy-call.ts';

describe('models', () => {
  const limited = { ...noCeilings, policy: { model_allowlist: ['b', 'c'] } };

  it('are those that may answer: one that is allowed is enough, and where none is involved nothing is limited', () => {
    expect(evaluate(limited, callFor(2000, { models: ['a', 'b'] })).kind).toBe('admitted');
    expect(evaluate(limited, callFor(2000)).kind).toBe('admitted');
    for (const call of [callFor(2000, { models: ['a'] }), { ...callByKey, models: ['a', 'd'] }])
      expect(evaluate(limited, call)).toMatchObject({
        refusal_code: 'policy_blocked',
        policy_code: 'model_not_allowed',
        policy_key: null,
        cap_atomic: null,
      });
  });
});

describe('an approval', () => {
  const at_ms = noCeilings.now_ms;
  const approved = (ago_ms: number) => ({ approval: { act: 'approve', at_ms: at_ms - ago_ms } });
  const codeOf = (policy: BookPolicy, call: PolicyCall) => {
    const evaluation = evaluate({ ...noCeilings, policy }, call);
    return evaluation.kind === 'blocked' ? evaluation.policy_code : null;
  };

  it('is wanted above tier2_above, and lets a charge pass as long as it is fresh', () => {
    const policy = { tier2_above: '2000', approval_ttl: 60 };
    expect(codeOf(policy, callFor(2000))).toBeNull();
    expect(codeOf(policy, callByKey)).toBeNull();
    expect(evaluate({ ...noCeilings, policy, spent_atomic: usdc(7) }, callFor(2001))).toEqual({
      kind: 'blocked',
      refusal_code: 'approval_ttl_expired',
      policy_code: 'tier2_approval_missing',
      policy_key: null,
      spent_atomic: 7n,
      cap_atomic: 2000n,
      period_start: null,
      reason: '2001 is above tier2_above, 2000, and wants a fresh approval: none came with it.',
    });
    expect(codeOf(policy, callFor(2001, approved(0)))).toBeNull();
    expect(codeOf(policy, callFor(2001, approved(60_000)))).toBeNull();
    expect(codeOf(policy, callFor(2001, approved(60_001)))).toBe('tier2_approval_missing');
    // Clocks may differ by this much. An approval with a later time does not count.
    expect(codeOf(policy, callFor(2001, approved(-60_000)))).toBeNull();
    expect(codeOf(policy, callFor(2001, approved(-60_001)))).toBe('tier2_approval_missing');
  });

  it('is fresh for 300 seconds where its book does not say', () => {
    expect(codeOf({ tier2_above: '0' }, callFor(1, approved(300_000)))).toBeNull();
    expect(codeOf({ tier2_above: '0' }, callFor(1, approved(300_001)))).toBe('tier2_approval_missing');
  });

  it('is wanted for what is of high risk at any amount, also by key, and for low risk only above tier2_above', () => {
    const policy = { tier2_above: '2000', risk_tiers: { high: ['request_task'], low: ['quote_task'] } };
    const task = { operations: ['request_task'] };
    expect(codeOf(policy, callFor(1, task))).toBe('high_risk_approval_missing');
    expect(codeOf(policy, { ...callByKey, ...task })).toBe('high_risk_approval_missing');
    expect(codeOf(policy, callFor(1, { ...task, ...approved(1) }))).toBeNull();
    expect(codeOf(policy, callFor(2000, { operations: ['quote_task'] }))).toBeNull();
    expect(codeOf(policy, callFor(2001, { operations: ['quote_task'] }))).toBe('tier2_approval_missing');
    expect(codeOf(policy, callFor(2000, { operations: ['create_response'] }))).toBeNull();
  });

  it('is asked for last: nobody is to approve what is refused all the same', () => {
    const policy: BookPolicy = {
      kill_switch: true,
      require_payment_ref: true,
      model_allowlist: ['b'],
      hourly_cap: '0',
      daily_cap: '0',
      risk_tiers: { high: ['request_task'], low: [] },
      tier2_above: '0',
    };
    let left = { ...noCeilings, policy, budget_atomic: usdc(0) as Ceilings['budget_atomic'] };
    const call = callFor(1, { models: ['a'], operations: ['request_task'] });
    const without = (name: keyof BookPolicy) => {
      const { [name]: _, ...others } = left.policy;
      left = { ...left, policy: others };
    };
    const named = () => {
      const evaluation = evaluate(left, call);
      return evaluation.kind === 'blocked' ? evaluation.policy_code : null;
    };
    const order = [named()];
    for (const name of ['kill_switch', 'model_allowlist'] as const) {
      without(name);
      order.push(named());
    }
    left = { ...left, budget_atomic: null };
    order.push(named());
    for (const name of ['hourly_cap', 'daily_cap', 'risk_tiers', 'tier2_above'] as const) {
      without(name);
      order.push(named());
    }
    expect(order).toEqual([
      'kill_switch',
      'model_not_allowed',
      'budget_exhausted',
      'hourly_cap_exceeded',
      'daily_cap_exceeded',
      'high_risk_approval_missing',
      'tier2_approval_missing',
      null,
    ]);
    expect(
      evaluate(
        { ...noCeilings, policy: { require_payment_ref: true, model_allowlist: ['b'] } },
        { ...callByKey, models: ['a'] },
      ),
    ).toMatchObject({ policy_code: 'require_payment_ref' });
  });
});

describe('policies in shadow mode', () => {
  it('are judged each by itself, beside those that are in force', () => {
    const shadow = { hourly_cap: '1', daily_cap: '1', kill_switch: true, tier2_above: '0' };
    const would = wouldRefuse({ ...noCeilings, budget_atomic: usdc(0) }, shadow, callFor(2));
    expect(would.map(({ policy_code }) => policy_code)).toEqual([
      'kill_switch',
      'hourly_cap_exceeded',
      'daily_cap_exceeded',
      'tier2_approval_missing',
    ]);
    expect(wouldRefuse({ ...noCeilings, policy: { kill_switch: true } }, {}, callFor(2))).toEqual([]);
  });

  it('take their approvals for as long as the book does, unless that is in shadow too', () => {
    const call = callFor(2, { approval: { act: 'approve', at_ms: noCeilings.now_ms - 30_000 } });
    const enforced = { ...noCeilings, policy: { approval_ttl: 10 } };
    expect(wouldRefuse(enforced, { tier2_above: '1' }, call)).toHaveLength(1);
    expect(wouldRefuse(enforced, { tier2_above: '1', approval_ttl: 30 }, call)).toEqual([]);
  });
});
