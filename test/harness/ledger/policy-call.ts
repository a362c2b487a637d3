import { atomicAmount } from '../../../schema/amount.ts';
import { emptyWindow } from '../../../schema/clock-window.ts';
import type { PolicyCall } from '../../../schema/policy-rule.ts';
import type { Ceilings } from '../../../subgraphs/book/policy/evaluate.ts';

export const usdc = (amount: number | bigint) => atomicAmount(BigInt(amount));

/** The limits of a book without policies and without spending. */
export const noCeilings: Ceilings = {
  policy: {},
  budget_atomic: null,
  spent_atomic: usdc(0),
  reserved_atomic: usdc(0),
  hour: emptyWindow,
  day: emptyWindow,
  now_ms: Date.parse('2026-03-01T10:30:00Z'),
};

/** A call at that price, by default without models and operations. */
export const callFor = (amount: number | bigint, differently: Partial<PolicyCall> = {}): PolicyCall => ({
  amount: usdc(amount),
  models: [],
  operations: [],
  approval: null,
  ...differently,
});

export const callByKey: PolicyCall = { ...callFor(0), amount: null };
